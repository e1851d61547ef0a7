// A switch of 24 cases, and an interpreter whose switch stands in a loop: each lane runs a program of its own.

__device__ __noinline__ int calculate(int operation, int a, int b) {
    switch (operation) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return b != 0 ? a / b : 0;
        case 4: return b != 0 ? a % b : 0;
        case 5: return a & b;
        case 6: return a | b;
        case 7: return a ^ b;
        case 8: return ~a;
        case 9: return -a;
        case 10: return a << (b & 31);
        case 11: return a >> (b & 31);
        case 12: return (int)((unsigned)a >> (b & 31));
        case 13: return min(a, b);
        case 14: return max(a, b);
        case 15: return a == b;
        case 16: return a < b;
        case 17: return abs(a);
        case 18: return __popc(a);
        case 19: return __clz(a);
        case 20: return (int)__brev((unsigned)a);
        case 21: return __ffs(a);
        case 22: return __mulhi(a, b);
        case 23: return (int)__byte_perm(a, b, 0x3715);
        default: return -1;
    }
}

extern "C" __global__ void calculate_all(const int* operation, const int* a, const int* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = calculate(operation[i], a[i], b[i]);
}

// A stack machine: 0 stop, 1 push, 2 add, 3 subtract, 4 multiply, 5 copy, 6 swap, 7 drop, 8 jump if not zero.
extern "C" __global__ void interpret(const int* code, const int* entry, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[8], top = 0, pc = entry[i];
    stack[top++] = i;  // the program's input
    for (bool running = true; running;) {
        switch (code[pc++]) {
            case 1: stack[top++] = code[pc++]; break;
            case 2: --top; stack[top - 1] += stack[top]; break;
            case 3: --top; stack[top - 1] -= stack[top]; break;
            case 4: --top; stack[top - 1] *= stack[top]; break;
            case 5: stack[top] = stack[top - 1]; ++top; break;
            case 6: {
                int a = stack[top - 1];
                stack[top - 1] = stack[top - 2];
                stack[top - 2] = a;
                break;
            }
            case 7: --top; break;
            case 8: {
                int target = code[pc++];
                if (stack[top - 1] != 0) pc = target;
                break;
            }
            default: running = false;
        }
    }
    out[i] = stack[top - 1];
}

// Arrays of structs that point to each other by index: lists, a search tree, and a struct passed by value.

struct Node {
    double value;
    int next;  // an index into the same array; -1 ends the list
    char kind;
};

struct Branch {
    int key, left, right;
};

struct Filter {
    char kind;
    double scale;
    short limit[3];
};

__device__ __noinline__ Filter doubled(Filter filter) {  // a struct in, a struct out
    filter.scale *= 2.0;
    filter.limit[2] += 1;
    return filter;
}

extern "C" __global__ void sum_lists(const Node* pool, const int* head, double* sum, int* length, Filter filter,
                                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Filter twice = doubled(filter);
    double total = 0.0;
    int count = 0;
    for (int at = head[i]; at >= 0 && count < twice.limit[2]; at = pool[at].next) {
        Node node = pool[at];
        if (node.kind == twice.kind) total += node.value * twice.scale;
        ++count;
    }
    sum[i] = total;
    length[i] = count;
}

extern "C" __global__ void reverse_lists(Node* pool, int* head, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int previous = -1;
    for (int at = head[i]; at >= 0;) {
        Node* node = &pool[at];
        int following = node->next;
        node->next = previous;
        previous = at;
        at = following;
    }
    head[i] = previous;
}

extern "C" __global__ void find(const Branch* tree, int root, const int* wanted, int* depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int steps = 0;
    for (int at = root; at >= 0; ++steps) {
        const Branch& branch = tree[at];
        if (wanted[i] == branch.key) break;
        at = wanted[i] < branch.key ? branch.left : branch.right;
        if (at < 0) steps = -2;  // becomes -1: not in the tree
    }
    depth[i] = steps;
}

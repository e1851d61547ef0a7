// Ten times 0.1f is not 1.0f: a loop that asks for equality steps over its end.
extern "C" __global__ void loop_float(int* y, float step) {
    int steps = 0;
#ifdef BUG
    for (float at = 0.0f; at != 1.0f; at += step) *(volatile int*)(y + threadIdx.x) = ++steps;  // BUG: endless_loop
#else
    for (float at = 0.0f; at < 1.0f - step / 2; at += step) *(volatile int*)(y + threadIdx.x) = ++steps;
#endif
}

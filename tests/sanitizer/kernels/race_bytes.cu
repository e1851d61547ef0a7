// Neighbouring bytes of one word by different threads are no race; reading a neighbour's byte without a barrier is.
extern "C" __global__ void race_bytes(unsigned char* y, const unsigned char* x) {
    __shared__ unsigned char row[65];
    int t = threadIdx.x;
    row[t] = x[t];  // OTHER
    if (t == 0) row[64] = 0;
#ifndef BUG
    __syncthreads();  // the whole row is written
#endif
    y[t] = row[(t + 33) % 64] ^ 0x5a;  // BUG: race
}

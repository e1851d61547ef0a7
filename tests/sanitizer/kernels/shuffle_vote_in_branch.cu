// Two votes of the whole warp, one in each branch: neither ever has all the voters that its mask names.
extern "C" __global__ void shuffle_vote_in_branch(unsigned* y, const int* x) {
    int lane = threadIdx.x;
    int value = x[lane];
    unsigned voters;
#ifdef BUG
    if (lane < 20)
        voters = __ballot_sync(0xffffffff, value > 0);  // BUG: shuffle
    else
        voters = __ballot_sync(0xffffffff, value > 9);  // BUG: shuffle
#else
    if (lane < 20)
        voters = __ballot_sync(0x000fffff, value > 0);
    else
        voters = __ballot_sync(0xfff00000, value > 9);
#endif
    y[lane] = voters;
}

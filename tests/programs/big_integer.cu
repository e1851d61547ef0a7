// Numbers of several words: the carry of one addition enters the next, which only inline assembly can say.

// 128 bits a number, low word first: sum and difference.
extern "C" __global__ void add_128(const uint4* a, const uint4* b, uint4* sum, uint4* difference, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 x = a[i], y = b[i], s, d;
    asm("add.cc.u32 %0, %4, %8;\n\t"
        "addc.cc.u32 %1, %5, %9;\n\t"
        "addc.cc.u32 %2, %6, %10;\n\t"
        "addc.u32 %3, %7, %11;"
        : "=&r"(s.x), "=&r"(s.y), "=&r"(s.z), "=r"(s.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    asm("sub.cc.u32 %0, %4, %8;\n\t"
        "subc.cc.u32 %1, %5, %9;\n\t"
        "subc.cc.u32 %2, %6, %10;\n\t"
        "subc.u32 %3, %7, %11;"
        : "=&r"(d.x), "=&r"(d.y), "=&r"(d.z), "=r"(d.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
    sum[i] = s;
    difference[i] = d;
}

// row += x * y for four words x, with the carry out in row[4].
__device__ void multiply_add(unsigned (&row)[5], const uint4& x, unsigned y) {
    asm("mad.lo.cc.u32 %0, %5, %9, %0;\n\t"
        "madc.lo.cc.u32 %1, %6, %9, %1;\n\t"
        "madc.lo.cc.u32 %2, %7, %9, %2;\n\t"
        "madc.lo.cc.u32 %3, %8, %9, %3;\n\t"
        "addc.u32 %4, 0, 0;\n\t"
        "mad.hi.cc.u32 %1, %5, %9, %1;\n\t"
        "madc.hi.cc.u32 %2, %6, %9, %2;\n\t"
        "madc.hi.cc.u32 %3, %7, %9, %3;\n\t"
        "madc.hi.u32 %4, %8, %9, %4;"
        : "+r"(row[0]), "+r"(row[1]), "+r"(row[2]), "+r"(row[3]), "=&r"(row[4])
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y));
}

// 128 bits times 128 bits are 256: the school's method, one row for each word of the second factor.
extern "C" __global__ void multiply_128(const uint4* a, const uint4* b, unsigned* product, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned factors[4] = {b[i].x, b[i].y, b[i].z, b[i].w};
    unsigned row[5] = {};
    for (int k = 0; k < 4; ++k) {
        multiply_add(row, a[i], factors[k]);
        product[8 * i + k] = row[0];  // final: the rows to come start one word higher
        for (int j = 0; j < 4; ++j) row[j] = row[j + 1];
    }
    for (int k = 0; k < 4; ++k) product[8 * i + 4 + k] = row[k];
}

// 64-bit words with a carry, and the compiler's own way to the high half of a product.
extern "C" __global__ void add_shifted(const ulonglong2* a, const ulonglong2* b, ulonglong2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ulonglong2 x = a[i], y = b[i], s;
    asm("add.cc.u64 %0, %2, %4;\n\taddc.u64 %1, %3, %5;"
        : "=&l"(s.x), "=l"(s.y) : "l"(x.x), "l"(x.y), "l"(y.x), "l"(y.y));
    out[i] = {s.x << 5, s.y << 5 | s.x >> 59};
}

// Four neighbouring elements of a row: in one access of 16 bytes where the rows allow it.
#pragma once

// Rows lie one after the other, so all start at multiples of 16 bytes when the first does and their length is a
// multiple of 4. The first may start anywhere: its array can be a view of a larger one.
__device__ bool rows_of_four(const void* first, int length) {
    return length % 4 == 0 && (size_t)first % 16 == 0;
}

// row[k .. k + 3], zeros from `length` on; `wide` is what rows_of_four says.
__device__ float4 load4(const float* row, int k, int length, bool wide) {
    if (k >= length) return {0.0f, 0.0f, 0.0f, 0.0f};
    if (wide) return *(const float4*)(row + k);
    return {row[k], k + 1 < length ? row[k + 1] : 0.0f, k + 2 < length ? row[k + 2] : 0.0f,
            k + 3 < length ? row[k + 3] : 0.0f};
}

// Stores to row[k .. k + 3], and nothing from `length` on.
__device__ void store4(float* row, int k, int length, bool wide, float4 value) {
    if (k >= length) return;
    if (wide) {
        *(float4*)(row + k) = value;
        return;
    }
    row[k] = value.x;
    if (k + 1 < length) row[k + 1] = value.y;
    if (k + 2 < length) row[k + 2] = value.z;
    if (k + 3 < length) row[k + 3] = value.w;
}

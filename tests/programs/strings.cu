// Text on a GPU: bytes, ranges of bytes as strings, comparison, search, and a count of letters.

__device__ char upper(char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }

__device__ bool is_letter(char c) { return upper(c) >= 'A' && upper(c) <= 'Z'; }

extern "C" __global__ void to_upper(const char* text, char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = upper(text[i]);
}

extern "C" __global__ void count_words(const char* text, int* words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool starts = i < n && is_letter(text[i]) && (i == 0 || !is_letter(text[i - 1]));
    int of_block = __syncthreads_count(starts);
    if (threadIdx.x == 0) atomicAdd(words, of_block);
}

extern "C" __global__ void letters(const char* text, int* histogram, int n) {
    __shared__ int own[26];
    if (threadIdx.x < 26) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (is_letter(text[i])) atomicAdd(&own[upper(text[i]) - 'A'], 1);
    __syncthreads();
    if (threadIdx.x < 26) atomicAdd(&histogram[threadIdx.x], own[threadIdx.x]);
}

// Every place where the word stands, overlapping ones too; the word ends with a zero, as in C.
extern "C" __global__ void search(const char* text, const char* word, unsigned char* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = 0;
    while (word[k] && i + k < n && text[i + k] == word[k]) ++k;
    found[i] = word[k] == '\0';
}

// String number s lies from start[s] up to start[s + 1]; each thread reverses one in place.
extern "C" __global__ void reverse_strings(char* text, const int* start, int strings) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= strings) return;
    for (int a = start[s], b = start[s + 1] - 1; a < b; ++a, --b) {
        char kept = text[a];
        text[a] = text[b];
        text[b] = kept;
    }
}

// Sorting, scanning and number formats in CUDA, whose PTX (algorithms.ptx, stored so that tests need
// no nvcc) the emulator runs against CPU results. tools/cuda-tests.sh makes the PTX anew.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>
#include <stdint.h>

extern "C" {

// Keys of one CTA, four bits a pass, stable: ranks by ballot inside warps, by a scan over digits
// and warps between them.
__global__ void radix_sort(uint32_t *keys, uint32_t *values) {
    __shared__ uint32_t count[16][8], k[256], v[256];
    const uint32_t t = threadIdx.x, lane = t % 32, warp = t / 32, at = blockIdx.x * 256 + t;
    uint32_t key = keys[at], value = values[at];
    for (int shift = 0; shift < 32; shift += 4) {
        uint32_t digit = key >> shift & 15, before = 0;
        if (t < 128)
            count[t / 8][t % 8] = 0;
        __syncthreads();
        uint32_t same = __match_any_sync(~0u, digit);
        before = __popc(same & ((1u << lane) - 1));
        if (before == 0)
            count[digit][warp] = __popc(same);
        __syncthreads();
        if (warp == 0) { // exclusive sums of 128 counts, four a lane
            uint32_t *c = &count[0][0] + 4 * lane, a = c[0], b = c[1], d = c[2], sum = a + b + d + c[3];
            uint32_t total = sum;
            for (int o = 1; o < 32; o <<= 1) {
                uint32_t other = __shfl_up_sync(~0u, total, o);
                if (lane >= o)
                    total += other;
            }
            uint32_t base = total - sum;
            c[0] = base;
            c[1] = base + a;
            c[2] = base + a + b;
            c[3] = base + a + b + d;
        }
        __syncthreads();
        uint32_t to = count[digit][warp] + before;
        k[to] = key;
        v[to] = value;
        __syncthreads();
        key = k[t];
        value = v[t];
    }
    keys[at] = key;
    values[at] = value;
}

__global__ void bitonic_sort(float *data) {
    extern __shared__ float s[];
    const unsigned t = threadIdx.x, n = 2 * blockDim.x;
    s[t] = data[blockIdx.x * n + t];
    s[t + blockDim.x] = data[blockIdx.x * n + t + blockDim.x];
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned step = size / 2; step; step /= 2) {
            __syncthreads();
            unsigned i = 2 * t - (t & (step - 1));
            bool up = (i & size) == 0;
            float a = s[i], b = s[i + step];
            if ((a > b) == up) {
                s[i] = b;
                s[i + step] = a;
            }
        }
    __syncthreads();
    data[blockIdx.x * n + t] = s[t];
    data[blockIdx.x * n + t + blockDim.x] = s[t + blockDim.x];
}

// One pass over the data: each CTA looks back at the sums of those before it. `state` holds, for
// each CTA, 1 or 2 (its own sum; all up to it) above a 32-bit sum, and starts at zero.
__global__ void scan_lookback(const uint32_t *in, uint32_t *out, unsigned long long *state,
                              unsigned *ticket) {
    __shared__ uint32_t sums[8], part, base;
    const uint32_t t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0)
        part = atomicAdd(ticket, 1);
    __syncthreads();
    uint32_t v = in[part * 256 + t], x = v;
    for (int o = 1; o < 32; o <<= 1) {
        uint32_t y = __shfl_up_sync(~0u, x, o);
        if (lane >= o)
            x += y;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t w = 0; w < 8; w++) {
        before += w < warp ? sums[w] : 0;
        all += sums[w];
    }
    if (t == 0) {
        unsigned long long flag = part ? 1ull << 32 : 2ull << 32;
        atomicExch(&state[part], flag | all);
        uint32_t sum = 0;
        for (int p = (int)part - 1; p >= 0; p--) {
            unsigned long long s;
            do
                s = atomicAdd(&state[p], 0ull);
            while (s >> 32 == 0);
            sum += (uint32_t)s;
            if (s >> 32 == 2)
                break;
        }
        if (part)
            atomicExch(&state[part], 2ull << 32 | (uint32_t)(sum + all));
        base = sum;
    }
    __syncthreads();
    out[part * 256 + t] = base + before + x;
}

// Through every narrow format and back.
__global__ void formats(const float *in, uint8_t *e4m3, uint8_t *e5m2, uint16_t *bf16, uint16_t *f16,
                        float *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_fp8_e4m3 a(in[i]);
    __nv_fp8_e5m2 b(in[i]);
    __nv_bfloat16 c(in[i]);
    __half d(in[i]);
    e4m3[i] = a.__x;
    e5m2[i] = b.__x;
    bf16[i] = __bfloat16_as_ushort(c);
    f16[i] = __half_as_ushort(d);
    back[4 * i] = float(a);
    back[4 * i + 1] = float(b);
    back[4 * i + 2] = __bfloat162float(c);
    back[4 * i + 3] = __half2float(d);
}

// Rows of 64 numbers pass through three stages of shared memory filled by asynchronous copies.
__global__ void pipelined_rows(const float *in, float *sums, int rows) {
    __shared__ float stage[3][64];
    const int t = threadIdx.x, first = blockIdx.x * rows;
    float sum = 0;
    for (int r = 0; r < 2; r++) {
        if (r < rows)
            __pipeline_memcpy_async(&stage[r][2 * t], &in[(first + r) * 64 + 2 * t], 8);
        __pipeline_commit();
    }
    for (int r = 0; r < rows; r++) {
        if (r + 2 < rows)
            __pipeline_memcpy_async(&stage[(r + 2) % 3][2 * t], &in[(first + r + 2) * 64 + 2 * t], 8);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        sum += stage[r % 3][t] * stage[r % 3][63 - t];
        __syncthreads();
    }
    sums[blockIdx.x * 32 + t] = sum;
}

} // extern "C"

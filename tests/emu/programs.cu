// Small CUDA programs whose PTX (programs.ptx, stored so that tests need no nvcc) the emulator runs
// against CPU results. To make it anew: nvcc -arch=sm_90a -ptx programs.cu -o programs.ptx
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

extern "C" {

__global__ void reduce(const int *in, int *out, int n) {
    __shared__ int part[32];
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int o = 16; o; o >>= 1)
            v += __shfl_down_sync(~0u, v, o);
        if (threadIdx.x == 0)
            atomicAdd(out, v);
    }
}

// Inclusive scan of one block's elements.
__global__ void scan(const unsigned *in, unsigned *out) {
    extern __shared__ unsigned line[];
    unsigned t = threadIdx.x;
    line[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned v = t >= d ? line[t - d] : 0;
        __syncthreads();
        line[t] += v;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = line[t];
}

__global__ void histogram(const uint8_t *in, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&out[i], bins[i]);
}

__global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < columns && y + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < rows && y + k < columns)
            out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Loops, breaks, nested branches and a switch that lanes take differently.
__global__ void diverge(unsigned *out, unsigned seed) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, x = t * 2654435761u + seed, steps = 0;
    while (x != 1 && steps < 200) {
        if (x & 1) {
            if (x > 1000000) {
                x = x / 3;
                if (x == 0)
                    break;
            } else {
                x = 3 * x + 1;
            }
        } else {
            x /= 2;
        }
        switch (x % 7) {
        case 0:
            steps += 3;
            continue;
        case 1:
            x ^= t;
            break;
        case 2:
            for (unsigned k = 0; k < (t & 3); k++)
                x += k;
            break;
        case 3:
            if (t % 5 == 0)
                goto out;
            break;
        case 4:
            steps += 2;
            break;
        case 5:
            x += 5;
        }
        steps++;
    }
out:
    out[t] = x * 31 + steps;
}

__device__ __noinline__ unsigned fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

struct Pair {
    int a;
    long long b;
};

__device__ __noinline__ Pair mix(Pair p, char c, float f) {
    Pair r;
    r.a = p.a * c;
    r.b = p.b + (long long)f;
    return r;
}

__global__ void calls(unsigned *fibs, long long *mixed) {
    unsigned t = threadIdx.x;
    fibs[t] = t % 3 == 0 ? fib(t / 4) : fib(5) + t;
    Pair p = {(int)t - 7, (long long)t << 33};
    p = mix(p, (char)(t - 16), t * 1.5f);
    mixed[2 * t] = p.a;
    mixed[2 * t + 1] = p.b;
}

typedef unsigned (*Operation)(unsigned, unsigned);
__device__ __noinline__ unsigned op_add(unsigned a, unsigned b) {
    return a + b;
}
__device__ __noinline__ unsigned op_mul(unsigned a, unsigned b) {
    return a * b;
}
__device__ Operation operations[2] = {op_add, op_mul};
__constant__ unsigned weights[4] = {3, 5, 7, 11};

__global__ void pointers(unsigned *out) {
    unsigned t = threadIdx.x;
    out[t] = operations[t & 1](t, weights[t & 3]);
}

__global__ void wide(const uint64_t *a, const uint64_t *b, uint64_t *out) {
    unsigned t = threadIdx.x;
    uint64_t x = a[t], y = b[t];
    uint64_t *o = out + 8 * t;
    o[0] = x * y;
    o[1] = __umul64hi(x, y);
    o[2] = y ? x / y : 0;
    o[3] = y ? x % y : 0;
    o[4] = y ? (uint64_t)((int64_t)x / (int64_t)(y | 1)) : 0;
    o[5] = x << (y & 63);
    o[6] = (uint64_t)((int64_t)x >> (y & 63));
    unsigned __int128 s = ((unsigned __int128)x << 64 | y) + ((unsigned __int128)y << 64 | x);
    o[7] = (uint64_t)(s >> 64);
}

__global__ void halves(const float *in, float *out, uint16_t *bits) {
    unsigned t = threadIdx.x;
    __half h = __float2half_rn(in[t]);
    __nv_bfloat16 b = __float2bfloat16_rn(in[t]);
    bits[4 * t] = __half_as_ushort(h);
    bits[4 * t + 1] = __bfloat16_as_ushort(b);
    bits[4 * t + 2] = __half_as_ushort(__hfma(h, h, __float2half_rn(0.5f)));
    bits[4 * t + 3] = __bfloat16_as_ushort(__hmul(b, b));
    out[2 * t] = __half2float(h);
    out[2 * t + 1] = __bfloat162float(b);
}

// Every lane learns who came before it.
__global__ void tickets(unsigned *counter, unsigned *taken, unsigned *winners) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    taken[t] = atomicAdd(counter, 1);
    if (atomicCAS(&winners[t & 7], 0xffffffffu, t) == 0xffffffffu)
        atomicMax(&winners[8], t);
    atomicInc(&winners[9], 100);
    atomicMin((int *)&winners[10], -(int)t);
}

// Half of the warps produce, half consume, through named barriers.
__global__ void producer_consumer(unsigned *out, int rounds) {
    __shared__ unsigned slot[2][128];
    unsigned t = threadIdx.x % 128;
    bool produces = threadIdx.x < 128;
    for (int r = 0; r < rounds; r++) {
        int s = r & 1;
        if (produces) {
            if (r >= 2)
                asm volatile("bar.sync %0, 256;" ::"r"(3 + s) : "memory");
            slot[s][t] = r * 1000 + t;
            asm volatile("bar.arrive %0, 256;" ::"r"(1 + s) : "memory");
        } else {
            asm volatile("bar.sync %0, 256;" ::"r"(1 + s) : "memory");
            out[r * 128 + t] = slot[s][127 - t];
            if (r + 2 < rounds)
                asm volatile("bar.arrive %0, 256;" ::"r"(3 + s) : "memory");
        }
    }
}

// All CTAs wait for all: needs every CTA resident.
__global__ void grid_barrier(unsigned *count, unsigned *data, unsigned *out) {
    unsigned n = gridDim.x;
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < n) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += data[i];
        out[blockIdx.x] = sum;
    }
}

// A lock that lanes of one warp fight for: needs independent progress.
__global__ void spin_lock(int *lock, int *value) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *(volatile int *)value = *(volatile int *)value + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void warp_ops(const unsigned *in, unsigned *out) {
    unsigned t = threadIdx.x, v = in[t], *o = out + 8 * t;
    o[0] = __ballot_sync(~0u, v & 1);
    o[1] = __any_sync(~0u, v > 1000) | __all_sync(~0u, v < 1000) << 1;
    o[2] = __match_any_sync(~0u, v % 5);
    o[3] = __reduce_add_sync(~0u, v);
    o[4] = __reduce_max_sync(~0u, v);
    o[5] = __shfl_up_sync(~0u, v, 3, 8);
    o[6] = __shfl_sync(~0u, v, t * 7, 16);
    o[7] = v % 3 == 0 ? __activemask() : __popc(__activemask());
}

__global__ void count_barrier(const int *in, int *out) {
    int t = threadIdx.x, c = __syncthreads_count(in[t] > 0);
    int a = __syncthreads_and(in[t] > -5), o = __syncthreads_or(in[t] > 100);
    out[t] = c * 4 + (a != 0) * 2 + (o != 0);
}

__global__ void async_copy(const float4 *in, float4 *out, int n) {
    extern __shared__ float4 stage[];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&stage[t]);
    int bytes = t < n ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
                 "cp.async.commit_group;\ncp.async.wait_group 0;" ::"r"(to),
                 "l"(in + (t < n ? t : 0)), "r"(bytes)
                 : "memory");
    __syncthreads();
    out[t] = stage[blockDim.x - 1 - t];
}

__global__ __cluster_dims__(4) void cluster_sum(const int *in, int *out) {
    __shared__ int mine;
    unsigned rank, peer, sum = 0, v;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        mine = in[blockIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned here = (unsigned)__cvta_generic_to_shared(&mine);
    for (unsigned r = 0; r < 4; r++) {
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(here), "r"(r));
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(peer) : "memory");
        sum += v * (r + 1);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum + rank;
}
}

// CUDA programs over thread-block clusters, whose PTX (clusters.ptx, stored so that tests need no
// nvcc) the emulator runs. To make it anew: nvcc -arch=sm_90a -ptx clusters.cu -o clusters.ptx
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;

extern "C" {

// Where each CTA stands: 8 words a CTA.
__global__ void places(unsigned *out) {
    cg::cluster_group c = cg::this_cluster();
    __shared__ int here;
    unsigned cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned *o = out + 8 * cta;
    unsigned far;
    asm("{ .reg .u64 a; mapa.u64 a, %1, %2; getctarank.u64 %0, a; }"
        : "=r"(far)
        : "l"(&here), "r"((c.block_rank() + 1) % c.num_blocks()));
    o[0] = c.block_rank();
    o[1] = c.num_blocks();
    o[2] = c.block_index().x + 10 * c.block_index().y + 100 * c.block_index().z;
    o[3] = c.dim_blocks().x + 10 * c.dim_blocks().y + 100 * c.dim_blocks().z;
    o[4] = far;
    o[5] = cg::cluster_group::query_shared_rank(&here);
    asm("{ .reg .u32 x, y; mov.u32 x, %%clusterid.x; mov.u32 y, %%clusterid.y;"
        " mad.lo.u32 %0, y, 10, x; }"
        : "=r"(o[6]));
    asm("{ .reg .u32 x, y; mov.u32 x, %%nclusterid.x; mov.u32 y, %%nclusterid.y;"
        " mad.lo.u32 %0, y, 10, x; }"
        : "=r"(o[7]));
}

// Each CTA passes its row to the next in its cluster.
__global__ void __cluster_dims__(4, 1, 1) ring(const int *in, int *out) {
    __shared__ int row[128];
    cg::cluster_group c = cg::this_cluster();
    unsigned t = threadIdx.x, i = blockIdx.x * 128 + t;
    row[t] = in[i];
    c.sync();
    const int *next = c.map_shared_rank(row, (c.block_rank() + 1) % 4);
    out[i] = next[127 - t];
    c.sync();
}

// A histogram whose bins lie across the cluster, by atomics on distributed shared memory.
__global__ void spread_histogram(const uint8_t *in, unsigned *out, int n) {
    __shared__ unsigned bins[64];
    cg::cluster_group c = cg::this_cluster();
    unsigned size = c.num_blocks(), per = 256 / size;
    for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
        bins[i] = 0;
    c.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(c.map_shared_rank(bins, in[i] / per) + in[i] % per, 1u);
    c.sync();
    for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
        atomicAdd(out + c.block_rank() * per + i, bins[i]);
}

// Sum of a cluster's values: each CTA's part by shuffles, then rank 0 reads its peers.
__global__ void cluster_sum(const float *in, float *out) {
    __shared__ float part[8], total;
    cg::cluster_group c = cg::this_cluster();
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int o = 16; o; o >>= 1)
        v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        total = 0;
        for (unsigned i = 0; i < blockDim.x / 32; i++)
            total += part[i];
    }
    c.barrier_arrive();
    c.barrier_wait();
    if (c.block_rank() == 0 && threadIdx.x == 0) {
        float sum = 0;
        for (unsigned r = 0; r < c.num_blocks(); r++)
            sum += *c.map_shared_rank(&total, r);
        out[blockIdx.x / c.num_blocks()] = sum;
    }
    c.sync();
}

// A barrier of the whole grid by a counter that all spin on, twice: rows are shifted by a CTA.
__global__ void grid_shift(int *data, unsigned *counter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (unsigned round = 1; round <= 2; round++) {
        int v = data[(i + blockDim.x) % n];
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counter, 1);
            while (*(volatile unsigned *)counter < (2 * round - 1) * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
        data[i] = v;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counter, 1);
            while (*(volatile unsigned *)counter < 2 * round * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
    }
}
}

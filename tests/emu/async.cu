// CUDA programs with mbarriers, cp.async, bulk copies and tensor copies, whose PTX (async.ptx, stored
// so that tests need no nvcc) the emulator runs. To make it anew:
// nvcc -arch=sm_90a -ptx async.cu -o async.ptx
#include <cooperative_groups.h>
#include <cuda.h>
#include <stdint.h>
namespace cg = cooperative_groups;

#define DEV __device__ __forceinline__

DEV unsigned at(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

DEV void init(uint64_t *b, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}

DEV void fence_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEV void fence_async() {
    asm volatile("fence.proxy.async;" ::: "memory");
}

DEV void arrive(uint64_t *b) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at(b)) : "memory");
}

DEV void expect(uint64_t *b, unsigned bytes) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(at(b)),
                 "r"(bytes)
                 : "memory");
}

DEV void wait(uint64_t *b, unsigned parity) {
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(at(b)),
                 "r"(parity)
                 : "memory");
}

DEV void bulk_load(void *to, const void *from, unsigned bytes, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     at(to)),
                 "l"(from), "r"(bytes), "r"(at(b))
                 : "memory");
}

DEV void bulk_store(void *to, const void *from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)),
                 "r"(bytes)
                 : "memory");
}

DEV void commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

extern "C" {

// Rows of 128 ints through a ring of 3 stages filled by cp.async groups; column sums.
__global__ void copy_groups(const int *in, int *out, int rows) {
    __shared__ __align__(16) int ring[3][128];
    int t = threadIdx.x; // 32 threads, 16 bytes each
    for (int r = 0; r < 2; r++) {
        if (r < rows)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&ring[r][t * 4])),
                         "l"(in + r * 128 + t * 4));
        asm volatile("cp.async.commit_group;");
    }
    int4 s = {0, 0, 0, 0};
    for (int r = 0; r < rows; r++) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncwarp();
        int4 v = *(int4 *)&ring[r % 3][124 - t * 4]; // another lane's copy
        s.x += v.x;
        s.y += v.y;
        s.z += v.z;
        s.w += v.w;
        __syncwarp();
        if (r + 2 < rows)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&ring[(r + 2) % 3][t * 4])),
                         "l"(in + (r + 2) * 128 + t * 4));
        asm volatile("cp.async.commit_group;");
    }
    *(int4 *)(out + 124 - t * 4) = s;
}

// The same with mbarriers: a producer warp copies by cp.async, a consumer warp adds.
__global__ void copy_barriers(const int *in, int *out, int rows) {
    __shared__ __align__(16) int ring[2][128];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            init(&full[i], 32);
            init(&empty[i], 32);
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int r = 0; r < rows; r++) {
            wait(&empty[r % 2], (r / 2 + 1) % 2);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at(&ring[r % 2][t * 4])),
                         "l"(in + r * 128 + t * 4));
            asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(&full[r % 2]))
                         : "memory");
        }
    } else {
        int4 s = {0, 0, 0, 0};
        for (int r = 0; r < rows; r++) {
            wait(&full[r % 2], r / 2 % 2);
            int4 v = *(int4 *)&ring[r % 2][124 - t * 4];
            s.x += v.x;
            s.y += v.y;
            s.z += v.z;
            s.w += v.w;
            arrive(&empty[r % 2]);
        }
        *(int4 *)(out + 124 - t * 4) = s;
    }
}

// A producer thread loads rows in bulk, consumers double them in place, a bulk store takes them out.
__global__ void bulk_pipeline(const int *in, int *out, int rows) {
    __shared__ __align__(128) int stage[4][256];
    __shared__ uint64_t full[4], empty[4];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++) {
            init(&full[i], 1);
            init(&empty[i], 1);
        }
        fence_init();
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128)
            for (int r = blockIdx.x, n = 0; r < rows; r += gridDim.x, n++) {
                wait(&empty[n % 4], (n / 4 + 1) % 2);
                expect(&full[n % 4], 1024);
                bulk_load(stage[n % 4], in + r * 256, 512, &full[n % 4]);
                bulk_load(stage[n % 4] + 128, in + r * 256 + 128, 512, &full[n % 4]);
            }
        return;
    }
    for (int r = blockIdx.x, n = 0; r < rows; r += gridDim.x, n++) {
        wait(&full[n % 4], n / 4 % 2);
        for (int i = threadIdx.x; i < 256; i += 128)
            stage[n % 4][i] *= 2;
        fence_async();
        asm volatile("bar.sync 1, 128;" ::: "memory");
        if (threadIdx.x == 0) {
            bulk_store(out + r * 256, stage[n % 4], 1024);
            commit();
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            arrive(&empty[n % 4]);
        }
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Each CTA adds its 64 values to the sums in global memory, in bulk.
__global__ void bulk_add(const unsigned *in, unsigned *sums) {
    __shared__ __align__(16) unsigned row[64];
    row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" ::"l"(
                         sums),
                     "r"(at(row))
                     : "memory");
        commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// Each CTA of a cluster sends its row to the next by a bulk copy, and its rank by st.async.
__global__ void __cluster_dims__(4, 1, 1) bulk_ring(const int *in, int *out) {
    __shared__ __align__(16) int row[64], got[64];
    __shared__ int from;
    __shared__ uint64_t full;
    cg::cluster_group c = cg::this_cluster();
    unsigned t = threadIdx.x, next = (c.block_rank() + 1) % 4;
    row[t] = in[blockIdx.x * 64 + t];
    if (t == 0) {
        init(&full, 1);
        fence_init();
        expect(&full, 256 + 4);
    }
    fence_async();
    c.sync();
    if (t == 0) {
        unsigned far, bar, word;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(got)), "r"(next));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(at(&full)), "r"(next));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(word) : "r"(at(&from)), "r"(next));
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 256, [%2];" ::"r"(far),
                     "r"(at(row)), "r"(bar)
                     : "memory");
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                         word),
                     "r"(c.block_rank()), "r"(bar)
                     : "memory");
    }
    wait(&full, 0);
    out[blockIdx.x * 64 + t] = got[63 - t] + 1000 * from;
    c.sync();
}

// Threads of all CTAs of a cluster arrive at rank 0's barrier; then it adds up what they left there.
__global__ void __cluster_dims__(4, 1, 1) remote_arrive(int *out) {
    __shared__ int left[4 * 32];
    __shared__ uint64_t full;
    cg::cluster_group c = cg::this_cluster();
    unsigned t = threadIdx.x, bar;
    if (t == 0 && c.block_rank() == 0) {
        init(&full, 4 * 32);
        fence_init();
    }
    c.sync();
    c.map_shared_rank(left, 0)[c.block_rank() * 32 + t] = c.block_rank() * 100 + t;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(bar) : "r"(at(&full)));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
    if (c.block_rank() == 0) {
        asm volatile("{ .reg .pred p;\n"
                     "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra again; }" ::"r"(at(&full))
                     : "memory");
        int sum = 0;
        for (int r = 0; r < 4; r++)
            sum += left[r * 32 + 31 - t];
        out[t] = sum;
    }
    c.sync();
}

// A box of a tensor to shared memory, `dump` bytes of which are then written out as they lie there.
#define TENSOR_LOAD(N, COORDS, ...)                                                                \
    __global__ void load_##N##d(const __grid_constant__ CUtensorMap map, uint8_t *out, int bytes,  \
                                int dump, int c0, int c1, int c2, int c3, int c4) {                \
        extern __shared__ __align__(1024) uint8_t box[];                                           \
        __shared__ uint64_t full;                                                                  \
        for (int i = threadIdx.x; i < dump; i += blockDim.x)                                       \
            box[i] = 0xee;                                                                         \
        fence_async();                                                                             \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) {                                                                    \
            init(&full, 1);                                                                        \
            fence_init();                                                                          \
            expect(&full, bytes);                                                                  \
            asm volatile("cp.async.bulk.tensor." #N                                                \
                         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "  \
                         "{" COORDS "}], [%2];" ::"r"(at(box)),                                    \
                         "l"(&map), "r"(at(&full)), __VA_ARGS__                                    \
                         : "memory");                                                              \
        }                                                                                          \
        __syncthreads();                                                                           \
        wait(&full, 0);                                                                            \
        for (int i = threadIdx.x; i < dump; i += blockDim.x)                                       \
            out[i] = box[i];                                                                       \
    }
TENSOR_LOAD(1, "%3", "r"(c0))
TENSOR_LOAD(2, "%3, %4", "r"(c0), "r"(c1))
TENSOR_LOAD(3, "%3, %4, %5", "r"(c0), "r"(c1), "r"(c2))
TENSOR_LOAD(4, "%3, %4, %5, %6", "r"(c0), "r"(c1), "r"(c2), "r"(c3))
TENSOR_LOAD(5, "%3, %4, %5, %6, %7", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4))

// The other way round: bytes as they are to lie in shared memory, to a box of a tensor.
#define TENSOR_STORE(NAME, OP)                                                                     \
    __global__ void NAME(const __grid_constant__ CUtensorMap map, const uint8_t *in, int bytes,    \
                         int c0, int c1, int c2) {                                                 \
        extern __shared__ __align__(1024) uint8_t box[];                                           \
        for (int i = threadIdx.x; i < bytes; i += blockDim.x)                                      \
            box[i] = in[i];                                                                        \
        fence_async();                                                                             \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) {                                                                    \
            asm volatile(OP " [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(at(box)), "r"(c0),       \
                         "r"(c1), "r"(c2)                                                          \
                         : "memory");                                                              \
            commit();                                                                              \
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");                              \
        }                                                                                          \
    }
TENSOR_STORE(store_3d, "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group")
TENSOR_STORE(add_3d, "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile.bulk_group")
TENSOR_STORE(max_3d, "cp.reduce.async.bulk.tensor.3d.global.shared::cta.max.tile.bulk_group")

// Rank r loads rows r * 8 and up and sends them to both CTAs of its cluster.
__global__ void __cluster_dims__(2, 1, 1) multicast(const __grid_constant__ CUtensorMap map, int *out) {
    __shared__ __align__(128) int box[16][32];
    __shared__ uint64_t full;
    cg::cluster_group c = cg::this_cluster();
    unsigned r = c.block_rank();
    if (threadIdx.x == 0) {
        init(&full, 1);
        fence_init();
        expect(&full, 2048);
    }
    c.sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                     ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(at(box[r * 8])),
                     "l"(&map), "r"(at(&full)), "r"(0), "r"((int)(blockIdx.x / 2 * 16 + r * 8)),
                     "h"((short)3)
                     : "memory");
    wait(&full, 0);
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        out[blockIdx.x * 512 + i] = box[i / 32][i % 32];
    c.sync();
}
}

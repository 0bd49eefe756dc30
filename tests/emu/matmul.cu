// Matrix products in CUDA: by wmma, by mma with ldmatrix, and by a warp-specialised kernel of tensor
// copies and wgmma. Their PTX (matmul.ptx) is stored; tools/cuda-tests.sh makes it anew.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#define DEV __device__ __forceinline__

DEV unsigned at(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

DEV void wait(uint64_t *b, unsigned parity) {
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(at(b)),
                 "r"(parity)
                 : "memory");
}

DEV void arrive(uint64_t *b) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(at(b)) : "memory");
}

DEV void load_tile(void *to, const CUtensorMap *map, int x, int y, uint64_t *b) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3}], [%4];" ::"r"(at(to)),
                 "l"(map), "r"(x), "r"(y), "r"(at(b))
                 : "memory");
}

// Rows of 128 bytes, swizzled over 128; eight rows are 1024 bytes.
DEV uint64_t descriptor(const void *tile) {
    return (uint64_t)(at(tile) >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define R4(x) "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
DEV void multiply(float (&d)[8][4], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 0;"
                 : R4(d[0]), R4(d[1]), R4(d[2]), R4(d[3]), R4(d[4]), R4(d[5]), R4(d[6]), R4(d[7])
                 : "l"(a), "l"(b));
}

extern "C" {

// One warp, one tile of 16 by 16: c = a * b, all row-major.
__global__ void wmma_product(const __half *a, const __half *b, float *c, int n, int k) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        load_matrix_sync(fa, a + blockIdx.y * 16 * k + i, k);
        load_matrix_sync(fb, b + i * n + blockIdx.x * 16, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, mem_row_major);
}

// One warp, 16 by 8: a in rows of 16, b in rows of 8, through shared memory and ldmatrix.
__global__ void mma_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int k) {
    __shared__ __align__(16) __nv_bfloat16 sa[16][16], sb[16][8];
    const int t = threadIdx.x;
    float d[4] = {0, 0, 0, 0};
    for (int i = 0; i < k; i += 16) {
        for (int j = t; j < 256; j += 32)
            sa[j / 16][j % 16] = a[j / 16 * k + i + j % 16];
        for (int j = t; j < 128; j += 32)
            sb[j / 8][j % 8] = b[(i + j / 8) * 8 + j % 8];
        __syncwarp();
        unsigned ra[4], rb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                     : "r"(at(&sa[t % 16][t / 16 * 8]))
                     : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(rb[0]), "=r"(rb[1])
                     : "r"(at(&sb[t % 16][0]))
                     : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        __syncwarp();
    }
    for (int j = 0; j < 4; j++)
        c[(t / 4 + j / 2 * 8) * 8 + t % 4 * 2 + j % 2] = d[j];
}

// 64 by 64 a CTA: warp 4 keeps three stages of both operands filled, warps 0 to 3 multiply them.
// a is m by k, b is n by k, both in boxes of 64 by 64 swizzled over 128 bytes.
__global__ void __launch_bounds__(160)
    specialised_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        float *c, int n, int k) {
    enum { STAGES = 3, TILE = 64 * 64 };
    extern __shared__ __align__(1024) __nv_bfloat16 tiles[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x, warp = t / 32, steps = k / 64;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(at(&empty[s])) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (warp == 4) {
        if (t % 32 == 0)
            for (int i = 0; i < steps; i++) {
                int s = i % STAGES;
                if (i >= STAGES)
                    wait(&empty[s], (i / STAGES - 1) & 1);
                asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(
                                 at(&full[s])),
                             "r"(2 * TILE * 2)
                             : "memory");
                load_tile(tiles + 2 * s * TILE, &a, i * 64, blockIdx.y * 64, &full[s]);
                load_tile(tiles + (2 * s + 1) * TILE, &b, i * 64, blockIdx.x * 64, &full[s]);
            }
        return;
    }
    float d[8][4] = {};
    for (int i = 0; i < steps; i++) {
        int s = i % STAGES;
        wait(&full[s], i / STAGES & 1);
        uint64_t da = descriptor(tiles + 2 * s * TILE), db = descriptor(tiles + (2 * s + 1) * TILE);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < 4; j++)
            multiply(d, da + 2 * j, db + 2 * j);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        arrive(&empty[s]);
    }
    float *to = c + (size_t)(blockIdx.y * 64 + warp * 16 + t % 32 / 4) * n + blockIdx.x * 64 + t % 4 * 2;
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            to[(size_t)(i / 2 * 8) * n + 8 * j + i % 2] = d[j][i];
}

} // extern "C"

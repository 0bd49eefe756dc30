// What C++ on a GPU needs beyond arithmetic: calls, tables of functions, recursion, virtual
// functions, initialised variables with pointers, the stack, jump tables, warp matrices.
#include <cuda_fp16.h>
#include <mma.h>

typedef int Fn(int, float);

static __device__ __noinline__ int sum(int x, float y) {
    return x + (int)y;
}

static __device__ __noinline__ int product(int x, float y) {
    return x * (int)y;
}

__device__ Fn *functions[2] = {sum, product};
__constant__ Fn *constant_functions[2] = {product, sum};
__device__ int counter = 7;
__constant__ int table[4] = {11, 22, 33, 44};
__device__ const char *text = "hello";
__device__ double doubles[3] = {1.5, -2.5};

struct Linked {
    char c;
    short s;
    int *p;
    float f[2];
    const Linked *next;
};

__device__ Linked last = {3, -4, &counter, {5.f, 6.f}, nullptr};
__device__ Linked first = {1, 2, &counter, {3.f, 4.f}, &last};

extern "C" __global__ void pointers(int *out) {
    int k = threadIdx.x % 2;
    out[threadIdx.x] = functions[k](k + 5, 2.f) * 1000000 + constant_functions[k](k + 5, 3.f) * 10000 +
                       table[threadIdx.x % 4] + text[threadIdx.x % 5] + (int)doubles[k] +
                       first.next->s + *first.p + (int)first.next->f[1];
}

static __device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int *out) {
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 3 % 4);
}

struct Big {
    int v[20];
};

static __device__ __noinline__ Big add_at(Big b, int i) {
    b.v[i % 20] += i;
    return b;
}

extern "C" __global__ void structures(int *out, Big in) {
    Big b = add_at(add_at(in, threadIdx.x), threadIdx.x + 3);
    int s = 0;
    for (int i = 0; i < 20; i++)
        s = s * 3 + b.v[i];
    out[threadIdx.x] = s;
}

struct Shape {
    __device__ virtual int area(int x) {
        return x;
    }
};

struct Square : Shape {
    int k;
    __device__ int area(int x) override {
        return x * k;
    }
};

extern "C" __global__ void virtuals(int *out) {
    Square q;
    Shape s;
    q.k = out[threadIdx.x];
    Shape *p = threadIdx.x & 1 ? &q : &s;
    out[threadIdx.x] = p->area(threadIdx.x + 10);
}

extern "C" __global__ void cases(int *out) {
    int v = out[threadIdx.x], k = threadIdx.x;
    switch (v) {
    case 0: v = k * 3; break;
    case 1: v = k / 3; break;
    case 2: v = k % 5; break;
    case 3: v = k ^ 9; break;
    case 4: v = k << 3; break;
    case 5: v = __popc(k); break;
    case 6: v = __clz(k); break;
    case 7: v = k * k; break;
    default: v = -1;
    }
    out[threadIdx.x] = v;
}

static __device__ __noinline__ int fill(int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        p[i] = i * i;
        s += p[i];
    }
    return s;
}

extern "C" __global__ void stack(int *out) {
    int n = threadIdx.x + 1, s = 0;
    int *a = (int *)__builtin_alloca(n * sizeof(int));
    int *b = (int *)__builtin_alloca(2 * n * sizeof(int));
    s = fill(a, n) + fill(b, 2 * n);
    for (int i = 0; i < n; i++)
        s += a[i] + b[i + n];
    out[threadIdx.x] = s;
}

extern "C" __global__ void fragments(const __half *a, const __half *b, float *c) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    load_matrix_sync(fa, a, 24);
    load_matrix_sync(fb, b, 32);
    load_matrix_sync(fc, c, 16, mem_row_major);
    mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] * 2 + 1;
    store_matrix_sync(c, fc, 16, mem_col_major);
}

extern "C" __global__ void bytes(const signed char *a, const signed char *b, int *c) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, 8, 32, 16, signed char, col_major> fa;
    fragment<matrix_b, 8, 32, 16, signed char, row_major> fb;
    fragment<accumulator, 8, 32, 16, int> fc;
    __shared__ signed char s[512];
    for (int i = threadIdx.x; i < 512; i += 32)
        s[i] = b[i];
    __syncwarp();
    fill_fragment(fc, 5);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, s, 32);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 32, mem_row_major);
}

// Rows of a 8 x 8 matrix of 16 bits for each lane address; x4 in, transposed, x2 out.
extern "C" __global__ void rows(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned s[512];
    unsigned t = threadIdx.x, r[4], q[4], m;
    for (int i = 0; i < 16; i++)
        s[t + 32 * i] = in[t + 32 * i];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(s) + 16 * (t * 37 % 64);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3]) : "r"(at));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(m) : "r"(r[2]));
    __syncwarp();
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0],{%1,%2};" ::"r"(at), "r"(r[3]), "r"(q[0]) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0],{%1};" ::"r"(at ^ 512), "r"(r[1]) : "memory");
    __syncwarp();
    for (int i = 0; i < 4; i++) {
        out[t + 32 * i] = r[i];
        out[t + 32 * (4 + i)] = q[i];
    }
    out[t + 256] = m;
    for (int i = 0; i < 16; i++)
        out[t + 288 + 32 * i] = s[t + 32 * i];
}

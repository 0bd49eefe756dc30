/* CUDA programs compiled by nvcc (tests/emu/programs.ptx), run with all checks under every
 * scheduling mode and compared with the same work done in C. */
#include "emu_fixture.h"

static const tle_emu_options modes[] = {
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ROUND_ROBIN},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 12345},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 3},
    {.struct_size = sizeof(tle_emu_options), .checks = TLE_EMU_CHECK_NONE},
};

#define FOR_MODES(e)                                                                               \
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)                             \
        for (Emu e = open_programs(mode); e.device; emu_close(&e), e.device = NULL)

static Emu open_programs(size_t mode) {
    Emu e = emu_open(&modes[mode]);
    emu_load_file(&e, "tests/emu/programs.ptx");
    return e;
}

static void test_reduce(void **state) {
    (void)state;
    FOR_MODES(e) {
        int n = 10007, want = 0;
        int *in = emu_new(&e, (size_t)n * 4), *out = emu_zeros(&e, 4);
        for (int i = 0; i < n; i++)
            want += in[i] = i * 37 % 1001 - 500;
        emu_run(&e, "reduce", DIM(5, 1, 1), DIM(256, 1, 1), 0, (void *[]){&in, &out, &n});
        assert_int_equal(*out, want);
    }
}

static void test_scan(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *in = emu_new(&e, 2048), *out = emu_new(&e, 2048);
        for (unsigned i = 0; i < 512; i++)
            in[i] = i * i + 1;
        emu_run(&e, "scan", DIM(2, 1, 1), DIM(256, 1, 1), 1024, (void *[]){&in, &out});
        for (unsigned i = 0, sum = 0; i < 512; i++) {
            sum = i % 256 ? sum + in[i] : in[i];
            assert_int_equal(out[i], sum);
        }
    }
}

static void test_histogram(void **state) {
    (void)state;
    FOR_MODES(e) {
        int n = 5001;
        uint8_t *in = emu_new(&e, (size_t)n);
        unsigned *out = emu_zeros(&e, 1024), want[256] = {0};
        for (int i = 0; i < n; i++)
            want[in[i] = (uint8_t)(i * i >> 3)]++;
        emu_run(&e, "histogram", DIM(3, 1, 1), DIM(192, 1, 1), 0, (void *[]){&in, &out, &n});
        assert_memory_equal(out, want, sizeof want);
    }
}

static void test_transpose(void **state) {
    (void)state;
    FOR_MODES(e) {
        int rows = 70, columns = 45;
        float *in = emu_new(&e, 70 * 45 * 4), *out = emu_new(&e, 70 * 45 * 4);
        for (int i = 0; i < rows * columns; i++)
            in[i] = (float)i * 0.5f;
        emu_run(&e, "transpose", DIM(2, 3, 1), DIM(32, 8, 1), 0,
                (void *[]){&in, &out, &rows, &columns});
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++)
                assert_true(out[x * rows + y] == in[y * columns + x]);
    }
}

static unsigned diverge_one(unsigned t, unsigned seed) {
    unsigned x = t * 2654435761u + seed, steps = 0;
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
        unsigned m = x % 7;
        if (m == 0) {
            steps += 3;
            continue;
        }
        if (m == 1)
            x ^= t;
        if (m == 2)
            for (unsigned k = 0; k < (t & 3); k++)
                x += k;
        if (m == 3 && t % 5 == 0)
            break;
        if (m == 4)
            steps += 2;
        if (m == 5)
            x += 5;
        steps++;
    }
    return x * 31 + steps;
}

static void test_diverge(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *out = emu_new(&e, 200 * 2 * 4), seed = 99;
        emu_run(&e, "diverge", DIM(2, 1, 1), DIM(200, 1, 1), 0, (void *[]){&out, &seed});
        for (unsigned t = 0; t < 400; t++)
            assert_int_equal(out[t], diverge_one(t, seed));
    }
}

static unsigned fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void test_calls(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *fibs = emu_new(&e, 48 * 4);
        int64_t *mixed = emu_new(&e, 48 * 16);
        emu_run(&e, "calls", DIM(1, 1, 1), DIM(48, 1, 1), 0, (void *[]){&fibs, &mixed});
        for (int t = 0; t < 48; t++) {
            assert_int_equal(fibs[t], t % 3 == 0 ? fib((unsigned)t / 4) : fib(5) + (unsigned)t);
            assert_int_equal(mixed[2 * t], (t - 7) * (t - 16));
            assert_true(mixed[2 * t + 1] == ((int64_t)t << 33) + t * 3 / 2);
        }
    }
}

static void test_pointers(void **state) {
    static const unsigned weights[4] = {3, 5, 7, 11};
    (void)state;
    FOR_MODES(e) {
        unsigned *out = emu_new(&e, 64 * 4);
        emu_run(&e, "pointers", DIM(1, 1, 1), DIM(64, 1, 1), 0, (void *[]){&out});
        for (unsigned t = 0; t < 64; t++)
            assert_int_equal(out[t], t & 1 ? t * weights[t & 3] : t + weights[t & 3]);
    }
}

/* The upper half of a product, by schoolbook in 32-bit limbs. */
static uint64_t multiply_high(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), low = (uint32_t)mid + al * bh;
    return ah * bh + (mid >> 32) + (low >> 32);
}

static void test_wide(void **state) {
    static const uint64_t edges[] = {0, 1, 2, ~(uint64_t)0, (uint64_t)1 << 63, 0x80000000u};
    uint64_t seed = 7;
    (void)state;
    FOR_MODES(e) {
        uint64_t *a = emu_new(&e, 512), *b = emu_new(&e, 512), *out = emu_new(&e, 64 * 64);
        for (int t = 0; t < 64; t++) {
            a[t] = t < 36 ? edges[t / 6] : emu_random(&seed);
            b[t] = t < 36 ? edges[t % 6] : emu_random(&seed) >> (t & 31);
        }
        emu_run(&e, "wide", DIM(1, 1, 1), DIM(64, 1, 1), 0, (void *[]){&a, &b, &out});
        for (int t = 0; t < 64; t++) {
            uint64_t x = a[t], y = b[t], *o = out + 8 * t;
            int64_t divisor = (int64_t)(y | 1);
            assert_true(o[0] == x * y);
            assert_true(o[1] == multiply_high(x, y));
            assert_true(o[2] == (y ? x / y : 0));
            assert_true(o[3] == (y ? x % y : 0));
            if (divisor != -1)
                assert_true(o[4] == (y ? (uint64_t)((int64_t)x / divisor) : 0));
            assert_true(o[5] == x << (y & 63));
            assert_true((int64_t)o[6] == (int64_t)x >> (y & 63));
            assert_true(o[7] == x + y + (y + x < y));
        }
    }
}

static void test_tickets(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *counter = emu_zeros(&e, 4), *taken = emu_new(&e, 256 * 4);
        unsigned *winners = emu_zeros(&e, 64);
        uint8_t seen[256] = {0};
        memset(winners, 0xff, 32);
        emu_run(&e, "tickets", DIM(2, 1, 1), DIM(128, 1, 1), 0,
                (void *[]){&counter, &taken, &winners});
        assert_int_equal(*counter, 256);
        for (int t = 0; t < 256; t++) {
            assert_true(taken[t] < 256 && !seen[taken[t]]);
            seen[taken[t]] = 1;
        }
        for (unsigned k = 0; k < 8; k++)
            assert_int_equal(winners[k] % 8, k);
        assert_int_equal(winners[9], 256 % 101);
        assert_int_equal((int)winners[10], -255);
    }
}

static void test_named_barriers(void **state) {
    (void)state;
    FOR_MODES(e) {
        int rounds = 9;
        unsigned *out = emu_new(&e, 9 * 128 * 4);
        emu_run(&e, "producer_consumer", DIM(1, 1, 1), DIM(256, 1, 1), 0,
                (void *[]){&out, &rounds});
        for (unsigned i = 0; i < 9 * 128; i++)
            assert_int_equal(out[i], i / 128 * 1000 + 127 - i % 128);
    }
}

static void test_grid_barrier(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *count = emu_zeros(&e, 4), *data = emu_new(&e, 48), *out = emu_new(&e, 48);
        emu_run(&e, "grid_barrier", DIM(12, 1, 1), DIM(64, 1, 1), 0,
                (void *[]){&count, &data, &out});
        for (int i = 0; i < 12; i++)
            assert_int_equal(out[i], 78);
    }
}

static void test_spin_lock(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *lock = emu_zeros(&e, 4), *value = emu_zeros(&e, 4);
        emu_run(&e, "spin_lock", DIM(2, 1, 1), DIM(64, 1, 1), 0, (void *[]){&lock, &value});
        assert_int_equal(*value, 128);
    }
}

static void test_warp_ops(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *in = emu_new(&e, 128), *out = emu_new(&e, 32 * 32), sum = 0, most = 0, odd = 0;
        for (unsigned t = 0; t < 32; t++) {
            in[t] = t * t * 7 % 1009;
            sum += in[t];
            most = in[t] > most ? in[t] : most;
            odd |= (in[t] & 1) << t;
        }
        emu_run(&e, "warp_ops", DIM(1, 1, 1), DIM(32, 1, 1), 0, (void *[]){&in, &out});
        for (unsigned t = 0; t < 32; t++) {
            unsigned *o = out + 8 * t, match = 0, any = 0, all = 1;
            for (unsigned u = 0; u < 32; u++) {
                match |= (unsigned)(in[u] % 5 == in[t] % 5) << u;
                any |= in[u] > 1000;
                all &= in[u] < 1000;
            }
            assert_int_equal(o[0], odd);
            assert_int_equal(o[1], any | all << 1);
            assert_int_equal(o[2], match);
            assert_int_equal(o[3], sum);
            assert_int_equal(o[4], most);
            assert_int_equal(o[5], t % 8 >= 3 ? in[t - 3] : in[t]);
            assert_int_equal(o[6], in[t / 16 * 16 + t * 7 % 16]);
        }
    }
}

static void test_count_barrier(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *in = emu_new(&e, 96 * 4), *out = emu_new(&e, 96 * 4), positive = 0;
        for (int t = 0; t < 96; t++) {
            in[t] = t % 9 - 4;
            positive += in[t] > 0;
        }
        emu_run(&e, "count_barrier", DIM(1, 1, 1), DIM(96, 1, 1), 0, (void *[]){&in, &out});
        for (int t = 0; t < 96; t++)
            assert_int_equal(out[t], positive * 4 + 2);
    }
}

static void test_async_copy(void **state) {
    (void)state;
    FOR_MODES(e) {
        int n = 50;
        float *in = emu_new(&e, 50 * 16), *out = emu_new(&e, 64 * 16);
        for (int i = 0; i < 200; i++)
            in[i] = (float)i;
        emu_run(&e, "async_copy", DIM(1, 1, 1), DIM(64, 1, 1), 1024, (void *[]){&in, &out, &n});
        for (int i = 0; i < 256; i++) {
            int from = 63 - i / 4;
            assert_true(out[i] == (from < n ? in[from * 4 + i % 4] : 0.0f));
        }
    }
}

static void test_cluster(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *in = emu_new(&e, 32), *out = emu_new(&e, 8 * 64 * 4);
        for (int i = 0; i < 8; i++)
            in[i] = i * i + 1;
        emu_run(&e, "cluster_sum", DIM(8, 1, 1), DIM(64, 1, 1), 0, (void *[]){&in, &out});
        for (int i = 0; i < 8 * 64; i++) {
            int c = i / 64 / 4 * 4, want = i / 64 % 4;
            for (int r = 0; r < 4; r++)
                want += in[c + r] * (r + 1);
            assert_int_equal(out[i], want);
        }
    }
}

/* Bits of the nearest half: found by trying all of them, ties to even. */
static uint16_t nearest_half(float v, int exponent_bits) {
    int mantissa = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    uint16_t sign = v < 0 ? 0x8000 : 0, best = 0;
    double a = v < 0 ? -(double)v : (double)v, distance = 1e300;
    uint32_t infinite = ((1u << exponent_bits) - 1) << mantissa;
    if (v != v)
        return 0x7fff;
    for (uint32_t b = 0; b <= infinite; b++) {
        int e = (int)(b >> mantissa);
        double m = (double)(b & ((1u << mantissa) - 1)), scale = 1, x;
        int power = (e ? e : 1) - bias - mantissa;
        for (int k = 0; k < (power < 0 ? -power : power); k++)
            scale *= power < 0 ? 0.5 : 2.0;
        x = (m + (e ? (double)(1u << mantissa) : 0)) * scale; /* infinity as if one more binade */
        double off = x > a ? x - a : a - x;
        if (off < distance || (off == distance && !(b & 1))) {
            distance = off;
            best = (uint16_t)b;
        }
    }
    return (uint16_t)(best | sign);
}

static void test_halves(void **state) {
    uint64_t seed = 5;
    (void)state;
    for (Emu e = open_programs(0); e.device; emu_close(&e), e.device = NULL) {
        float *in = emu_new(&e, 64 * 4), *out = emu_new(&e, 64 * 8);
        uint16_t *bits = emu_new(&e, 64 * 8);
        for (int t = 0; t < 64; t++) {
            uint32_t v = (uint32_t)emu_random(&seed);
            if (t < 48) /* within the range of a half, denormals too */
                v = (v & 0x807fffffu) | (uint32_t)(100 + v % 45) << 23;
            memcpy(&in[t], &v, 4);
        }
        in[60] = 65520.0f;
        in[61] = 65519.996f;
        in[62] = 2.98023224e-8f;
        emu_run(&e, "halves", DIM(1, 1, 1), DIM(64, 1, 1), 0, (void *[]){&in, &out, &bits});
        for (int t = 0; t < 64; t++) {
            if (in[t] != in[t] || in[t] - in[t] != 0)
                continue;
            assert_int_equal(bits[4 * t], nearest_half(in[t], 5));
            assert_int_equal(bits[4 * t + 1], nearest_half(in[t], 8));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reduce),       cmocka_unit_test(test_scan),
        cmocka_unit_test(test_histogram),    cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_diverge),      cmocka_unit_test(test_calls),
        cmocka_unit_test(test_pointers),     cmocka_unit_test(test_wide),
        cmocka_unit_test(test_tickets),      cmocka_unit_test(test_named_barriers),
        cmocka_unit_test(test_grid_barrier), cmocka_unit_test(test_spin_lock),
        cmocka_unit_test(test_warp_ops),     cmocka_unit_test(test_count_barrier),
        cmocka_unit_test(test_async_copy),   cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

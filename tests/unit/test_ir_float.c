/* Rounding of constants into narrow float types, against the compiler's own _Float16, against
 * integer arithmetic on the bits (bf16), and against a search of all values (the 8-bit types). */
#include "ir/ir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static float float_of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void assert_same(double found, double expected, double from) {
    if (isnan(found) && isnan(expected))
        return;
    if (memcmp(&found, &expected, sizeof found) != 0)
        fail_msg("%a rounds to %a, expected %a", from, found, expected);
}

/* Floats spread over all exponents, both signs, and every pattern of the low bits that decide. */
static uint32_t sample(uint32_t i) {
    return i * UINT32_C(2654435761);
}

static void test_f16(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 1 << 21; i++) {
        double x = (double)float_of_bits(sample(i));
        assert_same(ir_round_float(IR_F16, x), (double)(_Float16)x, x);
    }
    /* exact ties, and just above and below them */
    for (int k = 0; k < 1 << 11; k++) {
        double tie = (2048 + k + 0.5) * 0x1p-20;
        assert_same(ir_round_float(IR_F16, tie), (double)(_Float16)tie, tie);
        double above = nextafter(tie, 1), below = nextafter(tie, 0);
        assert_same(ir_round_float(IR_F16, above), (double)(_Float16)above, above);
        assert_same(ir_round_float(IR_F16, below), (double)(_Float16)below, below);
    }
    assert_same(ir_round_float(IR_F16, 65519.99), 65504.0, 65519.99);
    assert_same(ir_round_float(IR_F16, 65520.0), INFINITY, 65520.0);
    assert_same(ir_round_float(IR_F16, -0x1p-26), -0.0, -0x1p-26);
}

static void test_bf16(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 1 << 21; i++) {
        uint32_t bits = sample(i);
        float x = float_of_bits(bits);
        if (isnan(x))
            continue;
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        assert_same(ir_round_float(IR_BF16, (double)x), (double)float_of_bits(rounded), (double)x);
    }
}

/* The value of an 8-bit float of `mantissa` bits; e4m3 has no infinities and one NaN per sign. */
static double small_float(uint32_t code, int mantissa, int bias) {
    int exp = (int)(code >> mantissa), frac = (int)(code & ((1u << mantissa) - 1));
    if (!exp)
        return ldexp(frac, 1 - bias - mantissa);
    return ldexp((1 << mantissa) + frac, exp - bias - mantissa);
}

/* Nearest of the finite codes, ties to even. */
static double nearest(double x, int mantissa, int bias, uint32_t finite) {
    uint32_t best = 0;
    for (uint32_t code = 1; code < finite; code++) {
        double d = fabs(small_float(code, mantissa, bias) - fabs(x));
        double b = fabs(small_float(best, mantissa, bias) - fabs(x));
        if (d < b || (d == b && code % 2 == 0))
            best = code;
    }
    return copysign(small_float(best, mantissa, bias), x);
}

static void test_f8(void **state) {
    (void)state;
    for (int i = -4000; i <= 4000; i++) {
        double x = i * 0.11;
        assert_same(ir_round_float(IR_F8E4M3, x), nearest(x, 3, 7, 0x7f), x);
        assert_same(ir_round_float(IR_F8E5M2, x), nearest(x, 2, 15, 0x7c), x);
        double y = ldexp(i, -17);
        assert_same(ir_round_float(IR_F8E4M3, y), nearest(y, 3, 7, 0x7f), y);
        assert_same(ir_round_float(IR_F8E5M2, y), nearest(y, 2, 15, 0x7c), y);
    }
    assert_true(isnan(ir_round_float(IR_F8E4M3, 465.0)));
    assert_same(ir_round_float(IR_F8E4M3, 464.0), 448.0, 464.0);
    assert_same(ir_round_float(IR_F8E5M2, -61440.0), -INFINITY, -61440.0);
}

static void test_integers(void **state) {
    (void)state;
    for (int64_t x = -1000; x <= 1000; x++) {
        assert_int_equal(ir_wrap_int(IR_I8, x), (int8_t)x);
        assert_int_equal(ir_wrap_int(IR_I16, x * 9001), (int16_t)(x * 9001));
        assert_int_equal(ir_wrap_int(IR_I32, x * INT64_C(90000001)),
                         (int32_t)(x * INT64_C(90000001)));
        assert_int_equal(ir_wrap_int(IR_I1, x), x & 1);
    }
    assert_true(ir_wrap_int(IR_I64, INT64_MIN) == INT64_MIN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_f8),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

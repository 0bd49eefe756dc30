/* Correct rounding into the narrow float types, for constants and folding.
 *
 * Every type is described by its precision, exponent range and what lies past its largest value.
 * The scaling by powers of two is exact in double, so the only rounding is rint (to nearest even).
 */
#include "ir/ir.h"

#include <math.h>

typedef struct FloatFormat {
    int mantissa;  /* explicit bits */
    int min_exp;   /* exponent of the smallest normal number */
    double max;    /* largest finite value */
    bool infinite; /* has infinities; otherwise too large values give NaN */
} FloatFormat;

static bool format_of(IrElem e, FloatFormat *out) {
    switch (e) {
    case IR_F16:
        *out = (FloatFormat){10, -14, 65504.0, true};
        return true;
    case IR_BF16:
        *out = (FloatFormat){7, -126, 0x1.fep127, true};
        return true;
    case IR_F8E4M3:
        *out = (FloatFormat){3, -6, 448.0, false};
        return true;
    case IR_F8E5M2:
        *out = (FloatFormat){2, -14, 57344.0, true};
        return true;
    case IR_ELEM_NONE:
    case IR_I1:
    case IR_I8:
    case IR_I16:
    case IR_I32:
    case IR_I64:
    case IR_F32:
    case IR_F64:
    case IR_ELEM_COUNT:
        break;
    }
    return false;
}

double ir_round_float(IrElem elem, double value) {
    FloatFormat f;
    if (elem == IR_F32)
        return isnan(value) ? value : (double)(float)value;
    if (!format_of(elem, &f) || isnan(value) || isinf(value) || value == 0)
        return value;
    int exp;
    frexp(value, &exp); /* value = 0.5..1 * 2^exp */
    exp -= 1;
    if (exp < f.min_exp)
        exp = f.min_exp;
    double rounded = ldexp(rint(ldexp(value, f.mantissa - exp)), exp - f.mantissa);
    if (fabs(rounded) > f.max)
        return f.infinite ? copysign(INFINITY, value) : (double)NAN;
    return rounded;
}

/* What the layout files share: coordinates of one block packed into one word, and linear algebra
 * over F2 on such words. Dimension 0 takes the highest bits, so a packed coordinate is the
 * row-major number of the element in its block. */
#ifndef IR_LAYOUT_IMPL_H
#define IR_LAYOUT_IMPL_H

#include "ir/layout.h"

unsigned layout_block_bits(const Layout *l);
unsigned layout_input_bits(const Layout *l);
/* Number of the first bit of an input dimension in `basis`. */
unsigned layout_first_bit(const Layout *l, LayoutIn in);
uint32_t layout_pack(const Layout *l, const uint16_t *coord);
uint32_t layout_repeats(const Layout *l);
void layout_repeat_coord(const Layout *l, uint32_t index, uint32_t coord_out[LAYOUT_MAX_RANK]);

/* A growing set of independent vectors. Each remembers which inserted vectors it is the sum of. */
typedef struct F2Span {
    uint32_t vector[LAYOUT_MAX_BITS]; /* by pivot: the highest set bit */
    uint32_t inputs[LAYOUT_MAX_BITS];
    uint32_t count; /* independent vectors so far */
} F2Span;

/* Adds vector number `input`; false when it depends on the earlier ones. */
bool f2_insert(F2Span *s, uint32_t vector, unsigned input);
/* Reduces a vector: the rest that the span cannot express; the inputs whose sum is the other part.
 * The latter is a linear function of the vector. */
uint32_t f2_reduce(const F2Span *s, uint32_t vector, uint32_t *inputs_out);

#endif

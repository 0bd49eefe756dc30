/* Tensor maps in the emulator's own encoding: the 128 bytes that tle_emu_tensor_map_encode_tiled
 * fills and the tensor copies read. */
#ifndef EMU_TENSOR_MAP_H
#define EMU_TENSOR_MAP_H

#include "ptx.h"

#define TENSOR_MAP_BYTES 128u
#define TENSOR_TFLOAT32  11u /* and its FTZ variant, 12 */

typedef struct TensorMap {
    uint32_t magic, checksum;
    uint64_t address;
    uint64_t stride[4]; /* bytes, of dimensions 1 to rank - 1 */
    uint32_t last[5];   /* size of each dimension less 1 */
    uint16_t box[5];    /* elements of the tensor that the box spans */
    uint8_t step[5];    /* every how manieth is taken */
    uint8_t rank, type, swizzle, fill, promotion;
    uint8_t unused[40];
} TensorMap;

/* Of the data types: how many bytes, and the PTX type for reductions. */
uint32_t tensor_type_bytes(uint32_t type);
PtxType tensor_ptx_type(uint32_t type);
bool tensor_map_is_valid(const TensorMap *m);
/* Elements of the box along a dimension. */
uint32_t tensor_extent(const TensorMap *m, uint32_t k);
uint32_t tensor_box_bytes(const TensorMap *m);
/* Bytes of shared memory from one row of the box to the next. */
uint32_t tensor_pitch(const TensorMap *m);
/* Where the byte at this shared address of an unswizzled box lies. */
uint32_t tensor_swizzle(const TensorMap *m, uint32_t address);

#endif

/* Tensor maps: made from the arguments of the driver's cuTensorMapEncodeTiled, by its rules. */
#include "tensor_map.h"
#include "vm.h"
#include <string.h>

#define MAGIC 0x70616d74u /* "tmap" */

static const struct {
    uint8_t bytes;
    PtxType type; /* of reductions */
} types[] = {
    {1, TY_NONE}, {2, TY_NONE}, {4, TY_U32},  {4, TY_S32}, {8, TY_U64},  {8, TY_S64},  {2, TY_F16},
    {4, TY_F32},  {8, TY_F64},  {2, TY_BF16}, {4, TY_F32}, {4, TY_NONE}, {4, TY_NONE},
};

static const uint32_t swizzle_span[] = {0, 32, 64, 128};

#define TYPE_COUNT (sizeof types / sizeof *types)

uint32_t tensor_type_bytes(uint32_t type) {
    return type < TYPE_COUNT ? types[type].bytes : 0;
}

PtxType tensor_ptx_type(uint32_t type) {
    return type < TYPE_COUNT ? types[type].type : TY_NONE;
}

static uint32_t checksum(const TensorMap *m) {
    TensorMap copy = *m;
    uint64_t h;
    copy.checksum = 0;
    h = hash_bytes(&copy, sizeof copy, 0);
    return (uint32_t)(h ^ h >> 32);
}

bool tensor_map_is_valid(const TensorMap *m) {
    return m->magic == MAGIC && m->checksum == checksum(m);
}

uint32_t tensor_extent(const TensorMap *m, uint32_t k) {
    return k == 0 ? m->box[0] : ((uint32_t)m->box[k] + m->step[k] - 1) / m->step[k];
}

uint32_t tensor_box_bytes(const TensorMap *m) {
    uint32_t n = tensor_type_bytes(m->type);
    for (uint32_t k = 0; k < m->rank; k++)
        n *= tensor_extent(m, k);
    return n;
}

/* A swizzled row fills its span, however short it is. */
uint32_t tensor_pitch(const TensorMap *m) {
    return m->swizzle ? swizzle_span[m->swizzle] : m->box[0] * tensor_type_bytes(m->type);
}

/* 16-byte units of a row change places by the number of the row, as its address has it. */
uint32_t tensor_swizzle(const TensorMap *m, uint32_t address) {
    static const uint32_t units[] = {0, 1, 3, 7};
    return address ^ ((address >> 7 & units[m->swizzle]) << 4);
}

/* ---- encoding ----------------------------------------------------------------------------- */

typedef struct MapArgs {
    uint32_t type, rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *box, *steps;
    uint32_t interleave, swizzle, promotion, fill;
} MapArgs;

#define REFUSE(...) return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "tensor map: " __VA_ARGS__)

static tle_emu_status check_kinds(Device *d, const MapArgs *a) {
    if (a->type >= TYPE_COUNT)
        return device_fail(d, TLE_EMU_NOT_SUPPORTED, "not supported: tensor map of data type %u",
                           a->type);
    if (a->interleave != TLE_EMU_TENSOR_INTERLEAVE_NONE)
        return device_fail(d, TLE_EMU_NOT_SUPPORTED, "not supported: tensor map of interleave %u",
                           a->interleave);
    if (a->swizzle > TLE_EMU_TENSOR_SWIZZLE_128B)
        return device_fail(d, TLE_EMU_NOT_SUPPORTED, "not supported: tensor map of swizzle %u",
                           a->swizzle);
    if (a->rank < 1 || a->rank > 5)
        REFUSE("rank %u is not from 1 to 5", a->rank);
    if (a->promotion > 3)
        REFUSE("L2 promotion %u is not known", a->promotion);
    if (a->fill > 1)
        REFUSE("fill %u is not known", a->fill);
    if (a->fill && (a->type < 6 || a->type > 12))
        REFUSE("fill with NaN of an integer type");
    return TLE_EMU_OK;
}

static tle_emu_status check_tensor(Device *d, const MapArgs *a) {
    uint64_t below = tensor_type_bytes(a->type);
    if (((uint64_t)(uintptr_t)a->address & 15) || !a->address)
        REFUSE("address %p is null or not a multiple of 16", a->address);
    for (uint32_t k = 0; k < a->rank; k++) {
        uint64_t n = a->dims[k];
        if (n == 0 || n > (uint64_t)1 << 32)
            REFUSE("dimension %u of %llu elements", k, (unsigned long long)n);
        if (k + 1 == a->rank)
            break;
        uint64_t s = a->strides[k];
        if (s % 16 || s >= (uint64_t)1 << 40)
            REFUSE("stride %llu of dimension %u is not a multiple of 16 below 2^40",
                   (unsigned long long)s, k + 1);
        if (k == 0 && s < n * below)
            REFUSE("stride %llu of dimension 1 is less than a row of %llu bytes",
                   (unsigned long long)s, (unsigned long long)(n * below));
    }
    return TLE_EMU_OK;
}

static tle_emu_status check_box(Device *d, const MapArgs *a) {
    uint32_t inner = a->box[0] * tensor_type_bytes(a->type);
    for (uint32_t k = 0; k < a->rank; k++) {
        if (a->box[k] == 0 || a->box[k] > 256)
            REFUSE("box of %u elements along dimension %u is not from 1 to 256", a->box[k], k);
        if (a->steps[k] == 0 || a->steps[k] > 8)
            REFUSE("element stride %u of dimension %u is not from 1 to 8", a->steps[k], k);
    }
    if (inner % 16)
        REFUSE("rows of the box of %u bytes are not a multiple of 16", inner);
    if (a->swizzle && inner > swizzle_span[a->swizzle])
        REFUSE("rows of the box of %u bytes are over the swizzle's %u", inner,
               swizzle_span[a->swizzle]);
    return TLE_EMU_OK;
}

static void fill_in(TensorMap *m, const MapArgs *a) {
    memset(m, 0, sizeof *m);
    m->magic = MAGIC;
    m->address = (uint64_t)(uintptr_t)a->address;
    m->rank = (uint8_t)a->rank;
    m->type = (uint8_t)a->type;
    m->swizzle = (uint8_t)a->swizzle;
    m->fill = (uint8_t)a->fill;
    m->promotion = (uint8_t)a->promotion;
    for (uint32_t k = 0; k < a->rank; k++) {
        m->last[k] = (uint32_t)(a->dims[k] - 1);
        m->box[k] = (uint16_t)a->box[k];
        m->step[k] = (uint8_t)a->steps[k];
        if (k + 1 < a->rank)
            m->stride[k] = a->strides[k];
    }
    m->checksum = checksum(m);
}

tle_emu_status tle_emu_tensor_map_encode_tiled(tle_emu_device *device, void *map_out, uint32_t type,
                                               uint32_t rank, void *address, const uint64_t *dims,
                                               const uint64_t *strides, const uint32_t *box,
                                               const uint32_t *element_strides, uint32_t interleave,
                                               uint32_t swizzle, uint32_t promotion,
                                               uint32_t fill) {
    MapArgs a = {type,       rank,    address,   dims, strides, box, element_strides,
                 interleave, swizzle, promotion, fill};
    tle_emu_status status;
    TensorMap m;
    _Static_assert(sizeof m == TENSOR_MAP_BYTES, "a tensor map has 128 bytes");
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    Device *d = &device->d;
    if (!map_out || ((uintptr_t)map_out & 63))
        REFUSE("map at %p is null or not a multiple of 64", map_out);
    if (!dims || !box || !element_strides || (rank > 1 && !strides))
        REFUSE("null dimensions, strides or box");
    status = check_kinds(d, &a);
    if (status == TLE_EMU_OK)
        status = check_tensor(d, &a);
    if (status == TLE_EMU_OK)
        status = check_box(d, &a);
    if (status != TLE_EMU_OK)
        return status;
    fill_in(&m, &a);
    memcpy(map_out, &m, sizeof m);
    return TLE_EMU_OK;
}

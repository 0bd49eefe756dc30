/* Checks of arguments that operators share. Each failure has the argument's name, its value and the
 * limit in its sentence; functions return the status of what they found. */
#ifndef CORE_ARGUMENTS_H
#define CORE_ARGUMENTS_H

#include "device/device.h"

typedef struct TleiDtype {
    int32_t number; /* tle_dtype */
    const char *name, *constant;
    uint32_t bytes;
} TleiDtype;

/* The type of a number, or NULL. */
const TleiDtype *tlei_dtype(int32_t number);
/* An element type among those that the operator takes, `count` numbers. `what` says of what it is,
 * such as "scores". */
tle_status tlei_check_dtype(int32_t dtype, const int32_t *taken, uint32_t count, const char *what,
                            const TleiDtype **out, TleiError *e);

/* Below `least` is an invalid argument, above `most` an unsupported shape. */
tle_status tlei_check_number(const char *name, int64_t value, int64_t least, int64_t most,
                             TleiError *e);
/* 0 or 1. */
tle_status tlei_check_switch(const char *name, int32_t value, TleiError *e);
/* TLE_LAUNCH_* are all that there are. */
tle_status tlei_check_flags(uint32_t flags, TleiError *e);
/* From row to row of an output of k places; of one that is absent it means nothing. */
tle_status tlei_check_stride(const char *name, bool present, int64_t stride, int64_t k,
                             TleiError *e);

/* Sets what a call may touch of [rows, columns] elements; nothing of what is absent. */
tle_status tlei_set_range(TleiRange *range, bool present, const char *stride_name, int64_t rows,
                          int64_t stride, int64_t columns, TleiError *e);
/* The same for one element each row. */
void tlei_set_per_row(TleiRange *range, int64_t rows);
/* Null, misaligned or wrapping memory where there are bytes to touch. */
tle_status tlei_check_pointers(const TleiRange *ranges, uint32_t count, TleiError *e);
/* An output may overlap nothing else. */
tle_status tlei_check_overlaps(const TleiRange *ranges, uint32_t count, TleiError *e);

/* The fact `align`: the largest power of two, at most 256, that divides the addresses where rows
 * begin and where they end at the latest, so that a kernel that reads whole vectors of that size
 * stays within them. */
int64_t tlei_row_alignment(const TleiRange *range, int64_t rows, int64_t stride, int64_t columns);

#endif

/* How many instructions a PTX text has. */
#ifndef EMIT_PTX_COUNT_H
#define EMIT_PTX_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Statements that end in ';' and do not start with a directive; comments and labels do not count.
 */
uint32_t ptx_count(const char *ptx, size_t len);

#endif

/* Every compiled variant on the emulator with all checks, under the random and the adversarial
 * schedule; all other tests run it round-robin. */
#ifndef KERNELS_SUPPORT_SCHEDULES_H
#define KERNELS_SUPPORT_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

/* All variants of an operator for seeds [first, first + seeds) of each schedule: over a few shapes,
 * or, with `in_turn`, over one of them for each seed. Returns how many calls failed; each is
 * printed with the schedule and the seed that replay it. */
int topk_schedules(uint64_t first, uint64_t seeds, bool in_turn);
int radix_schedules(uint64_t first, uint64_t seeds, bool in_turn);

#endif

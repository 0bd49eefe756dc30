/* Every compiled variant on the emulator with all checks, under the random and the adversarial
 * schedule; all other tests run it round-robin. */
#ifndef KERNELS_SUPPORT_SCHEDULES_H
#define KERNELS_SUPPORT_SCHEDULES_H

#include <stdint.h>

/* All variants of an operator over a few shapes, for seeds [first, first + seeds) of each schedule.
 * Returns how many calls failed; each is printed with the schedule and the seed that replay it. */
int topk_schedules(uint64_t first, uint64_t seeds);
int radix_schedules(uint64_t first, uint64_t seeds);

#endif

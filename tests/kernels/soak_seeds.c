/* soak_seeds FIRST COUNT: every variant under so many seeds of every schedule of the emulator, with
 * one of its shapes for each seed. Only `make soak` runs it, in parts of ten seeds. */
#include "kernels/support/schedules.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && end != text && !*end;
}

int main(int argc, char **argv) {
    uint64_t first = 0, count = 0;
    int failed = 0;
    if (argc != 3 || !read_number(argv[1], &first) || !read_number(argv[2], &count)) {
        fprintf(stderr, "usage: soak_seeds FIRST COUNT\n");
        return 2;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        int topk = topk_schedules(seed, 1, true), radix = radix_schedules(seed, 1, true);
        printf("seed %llu: %d failures of topk_select, %d of radix_select\n",
               (unsigned long long)seed, topk, radix);
        fflush(stdout);
        failed += topk + radix;
    }
    return failed ? 1 : 0;
}

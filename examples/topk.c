/* The 3 best of 6 scores in C. cc topk.c $(pkg-config --cflags --libs tle) */
#include <stdio.h>
#include <tle/tle.h>

int main(void) {
    float scores[6] = {3, 1, 4, 1, 5, 9};
    int32_t best[3];
    void *in = NULL, *out = NULL;
    tle_handle handle = NULL;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = 1;
    p.columns = p.row_stride = 6;
    p.k = p.index_row_stride = 3;
    if (tle_create(&handle, NULL) || tle_alloc(handle, sizeof scores, &in) ||
        tle_alloc(handle, sizeof best, &out) || tle_copy(handle, in, scores, sizeof scores) ||
        (p.scores = in, p.indices = out, tle_topk_select(handle, &p, NULL, 0, NULL)) ||
        tle_synchronize(handle, NULL) || tle_copy(handle, best, out, sizeof best)) {
        fprintf(stderr, "%s\n", tle_last_error());
        return 1;
    }
    printf("%d %d %d\n", (int)best[0], (int)best[1], (int)best[2]); /* 2 4 5 */
    tle_free(handle, in);
    tle_free(handle, out);
    tle_destroy(handle);
    return 0;
}

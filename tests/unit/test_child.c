/* Child processes: results come back whole, crashes are statuses, and several run at once. */
#define _POSIX_C_SOURCE 200809L
#include "driver/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BIG = 1 << 20 }; /* far more than a pipe holds */

static void send_rows(void *user, int out) {
    char *big = malloc(BIG);

    if (!big)
        exit(1);
    memset(big, 'x', BIG);
    child_put(out, user, strlen(user));
    child_put(out, "", 0);
    child_put(out, big, BIG);
    free(big);
}

static void crash(void *user, int out) {
    (void)user;
    child_put(out, "half", 4);
    fprintf(stderr, "LLVM ERROR: Cannot select\n");
    abort();
}

static void leave(void *user, int out) {
    (void)out;
    exit(*(const int *)user);
}

static void test_rows(void **state) {
    static char word[] = "first";
    Arena *a = arena_new(NULL, NULL);
    Child c, *list = &c;
    const char *data;
    size_t len;

    (void)state;
    assert_true(child_start(&c, a, send_rows, word));
    assert_ptr_equal(child_wait(&list, 1), &c);
    assert_true(child_succeeded(&c));
    ChildReader r = child_reader(c.out.text, c.out.len);
    assert_true(child_take(&r, &data, &len));
    assert_int_equal(len, 5);
    assert_memory_equal(data, "first", 5);
    assert_true(child_take(&r, &data, &len));
    assert_int_equal(len, 0);
    assert_true(child_take(&r, &data, &len));
    assert_int_equal(len, BIG);
    assert_int_equal(data[BIG - 1], 'x');
    assert_false(child_take(&r, &data, &len));
    assert_null(child_wait(&list, 1));
    arena_free(a);
}

static void test_crash(void **state) {
    Arena *a = arena_new(NULL, NULL);
    Child c, *list = &c;

    (void)state;
    assert_true(child_start(&c, a, crash, NULL));
    assert_ptr_equal(child_wait(&list, 1), &c);
    assert_false(child_succeeded(&c));
    assert_non_null(strstr(child_fate(&c, a), "was killed by signal 6"));
    assert_string_equal(c.err.text, "LLVM ERROR: Cannot select\n");
    arena_free(a);
}

/* A row that claims more than there is. */
static void test_short_row(void **state) {
    char bytes[12] = {8};
    ChildReader r = child_reader(bytes, sizeof bytes);
    const char *data;
    size_t len;

    (void)state;
    assert_false(child_take(&r, &data, &len));
    r = child_reader(bytes, 3);
    assert_false(child_take(&r, &data, &len));
}

static void test_several(void **state) {
    Arena *a = arena_new(NULL, NULL);
    Child c[8], *list[9] = {0};
    int codes[8] = {0, 1, 2, 0, 4, 0, 6, 7};

    (void)state;
    for (int i = 0; i < 8; i++) {
        assert_true(child_start(&c[i], a, leave, &codes[i]));
        list[i + 1] = &c[i]; /* the first entry stays empty */
    }
    for (int i = 0; i < 8; i++)
        assert_non_null(child_wait(list, 9));
    assert_null(child_wait(list, 9));
    for (int i = 0; i < 8; i++)
        assert_int_equal(child_succeeded(&c[i]), codes[i] == 0);
    assert_string_equal(child_fate(&c[7], a), "ended with status 7");
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_short_row),
        cmocka_unit_test(test_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

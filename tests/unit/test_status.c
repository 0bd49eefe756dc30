/* Status numbers, names and phrases; the header and the table agree in both directions. */
#include "core/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    int number;
} rows[] = {
#define X(name, number, phrase) {"TLE_STATUS_" #name, number},
#include "core/status.def"
#undef X
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static void names_and_phrases(void **state) {
    (void)state;
    for (int i = 0; i < ROW_COUNT; i++) {
        assert_int_equal(rows[i].number, i);
        assert_string_equal(tle_status_name((tle_status)rows[i].number), rows[i].name);
        assert_true(strlen(tle_status_string((tle_status)rows[i].number)) > 5);
    }
    assert_string_equal(tle_status_name((tle_status)999), "TLE_STATUS_UNKNOWN");
    assert_string_equal(tle_status_name((tle_status)-1), "TLE_STATUS_UNKNOWN");
    assert_true(*tle_status_string((tle_status)999) != '\0');
}

/* The header's text, read as a stranger would: NAME = number. */
static void header_has_the_same_rows(void **state) {
    (void)state;
    FILE *f = fopen("include/tle/tle.h", "r");
    assert_non_null(f);
    char line[256], name[64];
    int number = 0, found = 0;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, " TLE_STATUS_%63[A-Z_] = %d", name, &number) != 2)
            continue;
        assert_true(number < ROW_COUNT);
        assert_string_equal(name, rows[number].name + strlen("TLE_STATUS_"));
        found++;
    }
    fclose(f);
    assert_int_equal(found, ROW_COUNT);
}

static void errors_keep_sentence_and_code(void **state) {
    (void)state;
    TleiError e = {TLE_STATUS_OK, 0, ""};
    assert_int_equal(tlei_fail_native(&e, TLE_STATUS_DRIVER_ERROR, 719, "k is %d", 3),
                     TLE_STATUS_DRIVER_ERROR);
    assert_string_equal(e.text, "k is 3");
    assert_int_equal(e.native, 719);
    assert_string_equal(tle_last_error(), "");
    tlei_fail(tlei_thread_error(), TLE_STATUS_INTERNAL, "broken");
    assert_string_equal(tle_last_error(), "broken");
    assert_int_equal(tle_last_native_error(), 0);
}

static void environment_is_listed(void **state) {
    (void)state;
    const char *name = NULL, *value = NULL, *meaning = NULL;
    int32_t n = 0, seen = 0;
    setenv("TLE_LOG", "error", 1);
    setenv("TLE_ARCH", "", 1);
    for (; tle_environment(n, &name, &value, &meaning); n++) {
        assert_memory_equal(name, "TLE_", 4);
        assert_true(*meaning != '\0');
        if (!strcmp(name, "TLE_LOG")) {
            assert_string_equal(value, "error");
            seen++;
        }
        if (!strcmp(name, "TLE_ARCH")) {
            assert_null(value);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    assert_int_equal(tle_environment(-1, &name, NULL, NULL), 0);
    assert_true(n > 5);
    unsetenv("TLE_LOG");
}

static void versions(void **state) {
    (void)state;
    assert_int_equal(tle_version(), TLE_VERSION_HEX);
    assert_non_null(strstr(tle_build_info(), "libtle 0.1.0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_phrases),
        cmocka_unit_test(header_has_the_same_rows),
        cmocka_unit_test(errors_keep_sentence_and_code),
        cmocka_unit_test(environment_is_listed),
        cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

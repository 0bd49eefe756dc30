/* Pack files outside the library: which are found, in which order, and what is refused. */
#include "core/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t inside[] = "inside";
static const TleiEmbedded inside_files[] = {{"op.sm_90a.tlepack", inside, inside + 6}};
static const size_t inside_count = 1;
static const TleiSources named = {inside_files, &inside_count, TLEI_PACKS_NAMED, {NULL}};
static const TleiSources closed = {inside_files, &inside_count, TLEI_PACKS_INSIDE, {NULL}};

typedef struct Folders {
    char root[64], first[96], second[96], path[256];
} Folders;

static void write_file(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state) {
    Folders *f = calloc(1, sizeof *f);
    snprintf(f->root, sizeof f->root, "/tmp/tle-files-XXXXXX");
    assert_non_null(mkdtemp(f->root));
    snprintf(f->first, sizeof f->first, "%s/first", f->root);
    snprintf(f->second, sizeof f->second, "%s/second", f->root);
    snprintf(f->path, sizeof f->path, "%s::%s", f->first, f->second);
    assert_int_equal(mkdir(f->first, 0700), 0);
    assert_int_equal(mkdir(f->second, 0700), 0);
    setenv("TLE_PACK_PATH", f->path, 1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Folders *f = *state;
    char command[128];
    unsetenv("TLE_PACK_PATH");
    snprintf(command, sizeof command, "rm -r %s", f->root);
    int failed = system(command);
    free(f);
    return failed;
}

static void expect(const TleiEmbedded *file, const char *name, const char *text) {
    assert_string_equal(file->name, name);
    assert_int_equal(file->end - file->begin, strlen(text));
    assert_memory_equal(file->begin, text, strlen(text));
}

static void folders_come_before_the_library(void **state) {
    Folders *f = *state;
    TleiFiles files = {0};
    TleiError e = {TLE_STATUS_OK, 0, ""};
    write_file(f->second, "op.sm_90a.tlepack", "third");
    write_file(f->first, "op.sm_90a.tlepack", "second");
    write_file(f->first, "a.sm_80.emu.tlepack", "first");
    write_file(f->first, "notes.txt", "no pack");
    assert_int_equal(tlei_files_open(&files, &named, &e), TLE_STATUS_OK);
    assert_int_equal(files.count, 4);
    assert_int_equal(files.mapped, 3);
    expect(&files.list[0], "a.sm_80.emu.tlepack", "first");
    expect(&files.list[1], "op.sm_90a.tlepack", "second");
    expect(&files.list[2], "op.sm_90a.tlepack", "third");
    expect(&files.list[3], "op.sm_90a.tlepack", "inside");
    tlei_files_close(&files);
    assert_null(files.list);
}

static void many_files_fit(void **state) {
    Folders *f = *state;
    TleiFiles files = {0};
    TleiError e = {TLE_STATUS_OK, 0, ""};
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "op%02d.sm_90a.tlepack", i);
        write_file(f->second, name, name);
    }
    assert_int_equal(tlei_files_open(&files, &named, &e), TLE_STATUS_OK);
    assert_int_equal(files.count, 41);
    expect(&files.list[39], "op39.sm_90a.tlepack", "op39.sm_90a.tlepack");
    tlei_files_close(&files);
}

static void other_sources_look_at_no_folder(void **state) {
    Folders *f = *state;
    TleiFiles files = {0};
    TleiError e = {TLE_STATUS_OK, 0, ""};
    write_file(f->first, "op.sm_90a.tlepack", "second");
    assert_int_equal(tlei_files_open(&files, &closed, &e), TLE_STATUS_OK);
    assert_int_equal(files.count, 1);
    tlei_files_close(&files);
}

static void missing_folders_are_named(void **state) {
    (void)state;
    TleiFiles files = {0};
    TleiError e = {TLE_STATUS_OK, 0, ""};
    setenv("TLE_PACK_PATH", "/nonexistent/packs", 1);
    assert_int_equal(tlei_files_open(&files, &named, &e), TLE_STATUS_PACK_NOT_FOUND);
    assert_string_equal(e.text,
                        "folder of packs /nonexistent/packs cannot be read: No such file or "
                        "directory");
    tlei_files_close(&files);
}

static void empty_files_are_refused(void **state) {
    Folders *f = *state;
    TleiFiles files = {0};
    TleiError e = {TLE_STATUS_OK, 0, ""};
    write_file(f->first, "a.sm_90a.tlepack", "whole");
    write_file(f->first, "op.sm_90a.tlepack", "");
    assert_int_equal(tlei_files_open(&files, &named, &e), TLE_STATUS_PACK_CORRUPT);
    assert_non_null(strstr(e.text, "first/op.sm_90a.tlepack cannot be read"));
    tlei_files_close(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folders_come_before_the_library, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_sources_look_at_no_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_folders_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_files_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* .npy files: what NumPy writes is read, what is written reads back, and damage is named. */
#include "cli/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static NpyError e;

static int make_path(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_npy_XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int drop_path(void **state) {
    (void)state;
    return remove(path);
}

/* A file of a version's preamble, a header and so many bytes of elements. */
static void write_file(int major, int minor, const char *header, const void *data, size_t bytes) {
    FILE *f = fopen(path, "wb");
    size_t len = strlen(header);
    unsigned char head[12] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, (unsigned char)minor};
    for (int i = 0; i < 4; i++)
        head[8 + i] = (unsigned char)(len >> 8 * i);
    fwrite(head, 1, major == 1 ? 10 : 12, f);
    fwrite(header, 1, len, f);
    fwrite(data, 1, bytes, f);
    fclose(f);
}

static void refused(const char *part) {
    NpyArray a;
    if (npy_read(path, &a, &e))
        fail_msg("accepted, but should say '%s'", part);
    if (!strstr(e.text, part))
        fail_msg("'%s' does not say '%s'", e.text, part);
    assert_non_null(strstr(e.text, path));
    assert_null(a.data);
}

static void header_refused(const char *header, const char *part) {
    char data[64] = {0};
    write_file(1, 0, header, data, 24);
    refused(part);
}

static void reads_versions(void **state) {
    (void)state;
    const float data[6] = {1, -2, 3.5f, 4, 5, 6};
    for (int version = 1; version <= 3; version++) {
        NpyArray a;
        write_file(version, 0, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }    \n",
                   data, sizeof data);
        assert_true(npy_read(path, &a, &e));
        assert_int_equal(a.type, NPY_F4);
        assert_int_equal(a.dims, 2);
        assert_int_equal(a.shape[0], 2);
        assert_int_equal(a.shape[1], 3);
        assert_int_equal(a.elements, 6);
        assert_memory_equal(a.data, data, sizeof data);
        npy_free(&a);
    }
}

static void reads_other_spellings(void **state) {
    (void)state;
    const int64_t data[3] = {1, -2, 3};
    NpyArray a;
    write_file(1, 0, "{\"shape\":(3,),\"fortran_order\":True,\"descr\":\"<i8\"}", data,
               sizeof data);
    assert_true(npy_read(path, &a, &e));
    assert_int_equal(a.type, NPY_I8);
    assert_int_equal(a.dims, 1);
    npy_free(&a);
    write_file(1, 0, "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", data, 4);
    assert_true(npy_read(path, &a, &e));
    assert_int_equal(a.dims, 0);
    assert_int_equal(a.elements, 1);
    npy_free(&a);
    write_file(1, 0, "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 7)}", data, 0);
    assert_true(npy_read(path, &a, &e));
    assert_int_equal(a.elements, 0);
    assert_non_null(a.data);
    npy_free(&a);
}

static void writes_what_it_reads(void **state) {
    (void)state;
    int32_t data[8] = {7, -1, 3, 2, 1, 0, 5, 6};
    NpyArray out = {NPY_I4, 3, {2, 2, 2}, 8, data}, in;
    assert_true(npy_write(path, &out, &e));
    assert_true(npy_read(path, &in, &e));
    assert_int_equal(in.dims, 3);
    assert_memory_equal(in.data, data, sizeof data);
    npy_free(&in);
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    assert_int_equal((ftell(f) - (long)sizeof data) % 64, 0);
    fclose(f);
    assert_false(npy_write("/nowhere/at/all.npy", &out, &e));
    assert_non_null(strstr(e.text, "/nowhere/at/all.npy"));
}

static void refuses_headers(void **state) {
    (void)state;
    header_refused("{'descr': '>f4', 'fortran_order': False, 'shape': (6,)}", "'>f4'");
    header_refused("{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", "'<c8'");
    header_refused("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "'|O'");
    header_refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}",
                   "structured");
    header_refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "Fortran order");
    header_refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}", "neither True nor False");
    header_refused("{'descr': '<f4', 'fortran_order': False}", "lacks one of");
    header_refused("{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}", "twice");
    header_refused("{'dtype': '<f4', 'fortran_order': False, 'shape': (6,)}",
                   "unknown key 'dtype'");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6)}", "not a tuple");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}", "where an extent");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3 }", "where ')'");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)", "where '}'");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x", "goes on");
    header_refused("{'descr: 1", "short string");
    header_refused("", "where '{'");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,6)}",
                   "more than 8 dimensions");
}

static void refuses_sizes(void **state) {
    (void)state;
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}", "needs 28 bytes");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}", "the file has 24");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
                   "too large");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                   "too large");
    header_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000000,)}",
                   "needs 400000000000000 bytes");
}

static void refuses_preambles(void **state) {
    (void)state;
    write_file(4, 0, "{}", "", 0);
    refused("format version 4.0");
    write_file(1, 1, "{}", "", 0);
    refused("format version 1.1");
    FILE *f = fopen(path, "wb");
    fputs("PK\x03\x04 not an array", f);
    fclose(f);
    refused("not a .npy file");
    f = fopen(path, "wb");
    fwrite("\x93NUMPY\x01\x00\xff\x00{'descr'", 1, 18, f);
    fclose(f);
    refused("ends within its header");
    f = fopen(path, "wb");
    fwrite("\x93NUMPY\x02\x00\xff\xff\xff\x7f{", 1, 13, f);
    fclose(f);
    refused("the most is 1048576");
    f = fopen(path, "wb");
    fwrite("\x93NUMPY\x01\x00\x05", 1, 9, f);
    fclose(f);
    refused("ends within its header");
    NpyArray a;
    assert_false(npy_read("/nowhere.npy", &a, &e));
    assert_non_null(strstr(e.text, "No such file"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_versions),       cmocka_unit_test(reads_other_spellings),
        cmocka_unit_test(writes_what_it_reads), cmocka_unit_test(refuses_headers),
        cmocka_unit_test(refuses_sizes),        cmocka_unit_test(refuses_preambles),
    };
    return cmocka_run_group_tests(tests, make_path, drop_path);
}

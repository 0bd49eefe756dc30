/* generator/base: arena, vectors, map, strings, SHA-256, files. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int setup(void **state) {
    *state = arena_new(NULL, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    arena_free(*state);
    return 0;
}

static void assert_zero(const unsigned char *p, size_t len) {
    for (size_t i = 0; i < len; i++)
        assert_int_equal(p[i], 0);
}

static void test_arena_zeroed_aligned_reused(void **state) {
    Arena *a = *state;
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 3000; size += 37) {
            unsigned char *p = arena_alloc(a, size);
            assert_int_equal((uintptr_t)p % 16, 0);
            assert_zero(p, size);
            memset(p, 0xff, size);
        }
        unsigned char *big = arena_alloc(a, 9u << 20);
        assert_zero(big, 9u << 20);
        big[(9u << 20) - 1] = 1;
        assert_true(arena_bytes(a) >= 9u << 20);
        arena_reset(a);
        assert_int_equal(arena_bytes(a), 0);
    }
    assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
}

typedef struct Escape {
    jmp_buf out;
    size_t wanted;
} Escape;

static void escape(void *user, size_t wanted) {
    Escape *e = user;
    e->wanted = wanted;
    longjmp(e->out, 1);
}

static void test_arena_overflow_calls_handler(void **state) {
    (void)state;
    Escape e = {.wanted = 0};
    Arena *a = arena_new(escape, &e);
    if (!setjmp(e.out)) {
        arena_calloc(a, SIZE_MAX / 2, 3);
        fail();
    }
    assert_true(e.wanted > 0);
    if (!setjmp(e.out)) {
        arena_alloc(a, SIZE_MAX - 3);
        fail();
    }
    arena_free(a);
}

static void test_vec(void **state) {
    VEC(uint32_t) v = {0};
    for (uint32_t i = 0; i < 10000; i++)
        vec_push(*state, &v, i * 7);
    assert_int_equal(v.len, 10000);
    for (uint32_t i = 0; i < v.len; i++)
        assert_int_equal(v.data[i], i * 7);
    assert_int_equal(vec_pop(&v), 9999 * 7);
    vec_reserve(*state, &v, 100000);
    assert_true(v.cap >= 100000);
    assert_int_equal(v.data[9998], 9998 * 7);
}

static void test_map(void **state) {
    Map m;
    map_init(&m, *state);
    assert_false(map_get(&m, 0, NULL));
    for (uint64_t i = 0; i < 5000; i++)
        map_put(&m, i * UINT64_C(0x100000000), (uint32_t)i + 1);
    map_put(&m, 0, 77);
    assert_int_equal(m.len, 5000);
    assert_int_equal(map_find(&m, 0, 9), 77);
    for (uint64_t i = 1; i < 5000; i++)
        assert_int_equal(map_find(&m, i * UINT64_C(0x100000000), 0), i + 1);
    assert_int_equal(map_find(&m, 3, 9), 9);
    map_clear(&m);
    assert_int_equal(map_find(&m, 0, 9), 9);
    assert_int_equal(m.len, 0);
}

/* Lengths, single bytes wherever they lie, and seeds all count: 1,000 hashes, all different. */
static void test_hash_bytes_differ(void **state) {
    enum { LENGTH = 33 };
    unsigned char bytes[LENGTH] = {0};
    uint64_t seen[1000];
    size_t count = 0;
    (void)state;
    for (size_t length = 0; length <= LENGTH; length++)
        seen[count++] = hash_bytes(bytes, length, 0);
    for (size_t i = 0; i < LENGTH; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (unsigned char)(1 << bit);
            seen[count++] = hash_bytes(bytes, LENGTH, 0);
            bytes[i] = 0;
        }
    for (uint64_t seed = 1; count < 1000; seed++)
        seen[count++] = hash_bytes(bytes, LENGTH, seed);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
}

static void test_interner(void **state) {
    Interner *in = interner_new(*state);
    assert_int_equal(str_internz(in, ""), 0);
    assert_string_equal(str_text(in, 0), "");
    Str first = str_internz(in, "alpha");
    char name[16];
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(str_internz(in, name), (int)first + 1 + i);
    }
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(str_internz(in, name), (int)first + 1 + i);
    }
    assert_int_equal(str_intern(in, "alphabet", 5), first);
    Str with_nul = str_intern(in, "a\0b", 3);
    assert_int_equal(str_len(in, with_nul), 3);
    assert_int_not_equal(with_nul, str_internz(in, "a"));
}

static void test_strbuf(void **state) {
    StrBuf b;
    strbuf_init(&b, *state);
    for (int i = 0; i < 200; i++)
        strbuf_addf(&b, "%d,", i % 10);
    strbuf_addz(&b, "end");
    strbuf_addc(&b, '.');
    assert_int_equal(b.len, 404);
    assert_int_equal(strlen(b.text), 404);
    assert_string_equal(b.text + 396, "8,9,end.");
    assert_string_equal(str_format(*state, "%s %u", "tile", 3u), "tile 3");
    assert_string_equal(str_format(*state, "%s", ""), "");
}

static void test_sha256(void **state) {
    (void)state;
    char hex[65];
    sha256_hex("", 0, hex); /* the three vectors are those of FIPS 180 */
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256_hex(two, strlen(two), hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char million_a[1000];
    memset(million_a, 'a', sizeof million_a);
    Sha256 s;
    uint8_t digest[32];
    sha256_init(&s);
    for (int i = 0; i < 1000; i++)
        sha256_add(&s, million_a, sizeof million_a);
    sha256_end(&s, digest);
    assert_int_equal(digest[0], 0xcd);
    assert_int_equal(digest[1], 0xc7);
    assert_int_equal(digest[31], 0xd0);
}

static void test_file_round_trip_keeps_time_stamp(void **state) {
    char dir[] = "base_test_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/f", dir);
    size_t len = 200001;
    char *data = malloc(len);
    for (size_t i = 0; i < len; i++)
        data[i] = (char)(i * 31);
    assert_true(file_write(path, data, len));
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_true(file_write(path, data, len));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mtime, 1000);
    size_t got = 0;
    char *back = file_read(*state, path, &got);
    assert_int_equal(got, len);
    assert_memory_equal(back, data, len);
    assert_int_equal(back[len], 0);
    assert_true(file_write(path, "x", 1));
    assert_string_equal(file_read(*state, path, &got), "x");
    assert_true(file_write(path, "", 0));
    assert_string_equal(file_read(*state, path, &got), "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0); /* no temporary file is left behind */
    free(data);
}

static void test_file_errors(void **state) {
    size_t len = 5;
    errno = 0;
    assert_null(file_read(*state, "no/such/file", &len));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(len, 5);
    assert_null(file_read(*state, ".", &len));
    assert_int_equal(errno, EISDIR);
    errno = 0;
    assert_false(file_write("no/such/file", "x", 1));
    assert_int_equal(errno, ENOENT);
}

/* A device would be lost if a file took its name: root can rename over /dev/null. */
static void test_file_write_keeps_links_and_pipes(void **state) {
    char dir[] = "base_test_XXXXXX", link[64], file[64], pipe_path[64], got[4] = "";
    struct stat st;
    size_t len = 0;
    assert_non_null(mkdtemp(dir));
    snprintf(link, sizeof link, "%s/link", dir);
    snprintf(file, sizeof file, "%s/file", dir);
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", dir);
    assert_int_equal(symlink("file", link), 0);
    assert_true(file_write(link, "one", 3));
    assert_true(file_write(link, "two", 3));
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(file_read(*state, file, &len), "two");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int end = open(pipe_path, O_RDWR); /* so that no side waits for the other */
    assert_true(end >= 0);
    assert_true(file_write(pipe_path, "abc", 3));
    assert_int_equal(read(end, got, sizeof got), 3);
    assert_memory_equal(got, "abc", 3);
    assert_int_equal(lstat(pipe_path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    close(end);
    assert_false(file_write(dir, "x", 1));
    assert_int_equal(errno, EISDIR);
    assert_int_equal(unlink(link) || unlink(file) || unlink(pipe_path) || rmdir(dir), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arena_zeroed_aligned_reused, setup, teardown),
        cmocka_unit_test(test_arena_overflow_calls_handler),
        cmocka_unit_test_setup_teardown(test_vec, setup, teardown),
        cmocka_unit_test_setup_teardown(test_map, setup, teardown),
        cmocka_unit_test(test_hash_bytes_differ),
        cmocka_unit_test_setup_teardown(test_interner, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strbuf, setup, teardown),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test_setup_teardown(test_file_round_trip_keeps_time_stamp, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_write_keeps_links_and_pipes, setup, teardown),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}

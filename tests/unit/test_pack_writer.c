/* The pack writer: what it writes can be read back by the format's description alone. */
#include "base/sha256.h"
#include "emit/meta.h"
#include "emit/pack.h"
#include "emit/ptx_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

static PackItem text_item(const char *text) {
    PackItem item = {text, strlen(text)};

    return item;
}

static const PackHeader *header_of(const void *file) {
    return file;
}

static const PackEntry *entries_of(const void *file) {
    return (const PackEntry *)((const char *)file + sizeof(PackHeader));
}

static const PackBlob *blobs_of(const void *file) {
    return (const PackBlob *)(entries_of(file) + header_of(file)->entry_count);
}

static const char *string_at(const void *file, uint32_t offset) {
    return (const char *)(blobs_of(file) + header_of(file)->blob_count) + offset;
}

/* The contents of a blob, checked against its hash. */
static char *blob_text(Arena *a, const void *file, uint32_t blob) {
    const PackBlob *b = &blobs_of(file)[blob];
    const char *stored = (const char *)file + b->offset;
    char *text = arena_alloc(a, b->raw_bytes + 1);
    uint8_t digest[32];
    Sha256 s;

    assert_int_equal(b->offset % 16, 0);
    if (b->stored_bytes < b->raw_bytes)
        assert_int_equal(ZSTD_decompress(text, b->raw_bytes, stored, b->stored_bytes),
                         b->raw_bytes);
    else
        memcpy(text, stored, b->raw_bytes);
    sha256_init(&s);
    sha256_add(&s, text, b->raw_bytes);
    sha256_end(&s, digest);
    assert_memory_equal(digest, b->sha256, 32);
    return text;
}

static const char long_text[] =
    "the same words again, the same words again, the same words again, the same words again, "
    "the same words again, the same words again, the same words again, the same words again";

static void *build(Arena *a, const PackVariant *v, uint32_t n, size_t *len) {
    const char *why = NULL;
    void *file = pack_build(a, "topk", "sm_90a", v, n, len, &why);

    assert_null(why);
    assert_non_null(file);
    return file;
}

static void test_contents(void **state) {
    Arena *a = arena_new(NULL, NULL);
    PackVariant v[] = {
        {"b", text_item("{\"b\":1}"), text_item(long_text), {NULL, 0}, {NULL, 0}},
        {"a", text_item("{\"a\":1}"), text_item(long_text), text_item("ptx"), {NULL, 0}},
    };
    size_t len;
    void *file = build(a, v, 2, &len);
    const PackHeader *h = header_of(file);
    const PackEntry *e = entries_of(file);

    (void)state;
    assert_int_equal(h->magic, PACK_MAGIC);
    assert_int_equal(h->version, PACK_VERSION);
    assert_int_equal(h->file_bytes, len);
    assert_int_equal(h->entry_count, 2);
    assert_int_equal(h->blob_count, 4); /* the two cubins are one */
    assert_string_equal(string_at(file, 0), "");
    assert_string_equal(string_at(file, h->op_name), "topk");
    assert_string_equal(string_at(file, h->arch_name), "sm_90a");
    assert_string_equal(string_at(file, e[0].name), "a");
    assert_string_equal(string_at(file, e[1].name), "b");
    assert_int_equal(e[0].cubin, e[1].cubin);
    assert_int_equal(e[1].ptx, PACK_NO_BLOB);
    assert_string_equal(blob_text(a, file, e[0].meta), "{\"a\":1}");
    assert_string_equal(blob_text(a, file, e[0].ptx), "ptx");
    assert_string_equal(blob_text(a, file, e[1].cubin), long_text);
    assert_true(blobs_of(file)[e[1].cubin].stored_bytes < sizeof long_text);
    arena_free(a);
}

/* The order of the variants and what else was allocated before change nothing. */
static void test_deterministic(void **state) {
    Arena *a = arena_new(NULL, NULL), *b = arena_new(NULL, NULL);
    PackVariant v[] = {
        {"x", text_item("{}"), {NULL, 0}, {NULL, 0}, text_item(long_text)},
        {"y", text_item("{ }"), {NULL, 0}, {NULL, 0}, {NULL, 0}},
    };
    PackVariant w[] = {v[1], v[0]};
    size_t n, m;

    (void)state;
    (void)arena_alloc(b, 12345);
    void *p = build(a, v, 2, &n), *q = build(b, w, 2, &m);
    assert_int_equal(n, m);
    assert_memory_equal(p, q, n);
    v[0].tir = text_item("other");
    q = build(b, v, 2, &m);
    assert_memory_not_equal(header_of(p)->build_id, header_of(q)->build_id, 32);
    arena_free(a);
    arena_free(b);
}

static void test_refusals(void **state) {
    Arena *a = arena_new(NULL, NULL);
    PackVariant twice[] = {
        {"x", text_item("{}"), {NULL, 0}, {NULL, 0}, {NULL, 0}},
        {"x", text_item("{}"), {NULL, 0}, {NULL, 0}, {NULL, 0}},
    };
    PackVariant bare = {"z", {NULL, 0}, text_item("c"), {NULL, 0}, {NULL, 0}};
    const char *why = NULL;
    size_t len;

    (void)state;
    assert_null(pack_build(a, "o", "sm_90a", twice, 2, &len, &why));
    assert_string_equal(why, "two variants are named 'x'");
    assert_null(pack_build(a, "o", "sm_90a", &bare, 1, &len, &why));
    assert_string_equal(why, "variant 'z' has no metadata");
    arena_free(a);
}

static void test_params_and_consts(void **state) {
    Arena *a = arena_new(NULL, NULL);
    MetaParam p[] = {{"flag", "i1", 0, 1, 1},
                     {"n", "i32", 0, 4, 4},
                     {"half", "fp16", 0, 2, 2},
                     {"x", "*fp32", 0, 8, 8}};

    (void)state;
    meta_place_params(p, 4);
    assert_int_equal(p[0].offset, 0);
    assert_int_equal(p[1].offset, 4);
    assert_int_equal(p[2].offset, 8);
    assert_int_equal(p[3].offset, 16);
    assert_string_equal(meta_const_json(a, "2048"), "2048");
    assert_string_equal(meta_const_json(a, "-1.5e3"), "-1.5e3");
    assert_string_equal(meta_const_json(a, "True"), "true");
    assert_string_equal(meta_const_json(a, "None"), "null");
    assert_string_equal(meta_const_json(a, "'a\"b'"), "\"a\\\"b\"");
    assert_string_equal(meta_const_json(a, "tl.float32"), "\"tl.float32\"");
    assert_string_equal(meta_const_json(a, "1."), "\"1.\"");
    arena_free(a);
}

static void test_metadata(void **state) {
    Arena *a = arena_new(NULL, NULL);
    MetaParam p = {"x", "*fp32", 0, 8, 8};
    MetaConst k = {"K", "16"};
    Meta m = {.name = "v",
              .op = "o",
              .kernel = "f",
              .source = "s.py",
              .source_sha256 = "00",
              .arch = "sm_90a",
              .num_warps = 4,
              .threads = 128,
              .cluster = {1, 1, 1},
              .shared_bytes = 64,
              .params = &p,
              .n_params = 1,
              .consts = &k,
              .n_consts = 1,
              .legal = "{\"k\":[1,2]}",
              .ptx_instructions = 7};
    StrBuf out;

    (void)state;
    strbuf_init(&out, a);
    meta_print(&m, &out);
    assert_string_equal(
        out.text, "{\"schema\":1,\"name\":\"v\",\"op\":\"o\",\"kernel\":\"f\",\"source\":\"s.py\","
                  "\"source_sha256\":\"00\",\"arch\":\"sm_90a\",\"num_warps\":4,\"threads\":128,"
                  "\"cluster\":[1,1,1],\"cooperative\":false,\"non_portable_cluster\":false,"
                  "\"dependent_launch\":false,"
                  "\"shared_bytes\":64,\"params\":"
                  "[{\"name\":\"x\",\"type\":\"*fp32\",\"offset\":0,\"size\":8,\"align\":8}],"
                  "\"const\":{\"K\":16},\"legal\":{\"k\":[1,2]},\"ptx_instructions\":7}");
    arena_free(a);
}

static void test_counting(void **state) {
    static const char ptx[] =
        "// a; comment\n.version 8.6\n.extern .shared .align 16 .b8 s[];\n"
        ".visible .entry f(\n\t.param .u64 p\n)\n.reqntid 32\n{\n"
        "\t.reg .b32 %r<3>;\n$L__0:\n\t.loc\t1 2 3\n"
        "\tld.global.v2.b32 \t{%r1, %r2}, [%rd1]; /* ; */ add.s32 %r1, 1, 2;\n"
        "\t@%p1 bra \t$L__0;\n\tret;\n\n}\n";

    (void)state;
    assert_int_equal(ptx_count(ptx, strlen(ptx)), 4);
    assert_int_equal(ptx_count("", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contents), cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_params_and_consts),
        cmocka_unit_test(test_metadata), cmocka_unit_test(test_counting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

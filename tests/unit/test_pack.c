/* The pack reader over packs written here: contents, compression, and every kind of damage. */
#include "core/pack.h"
#include "lib_fixture.h"

#include <zstd.h>

static const FakeVariant two[] = {
    {"a__x", "{\"a\": 1}", "CUBIN-A", NULL, "tir a"},
    {"b__y", "{\"b\": 2}", NULL, ".version 8.6", NULL},
};

static TleiError e;

static tle_status open_bytes(Bytes b, TleiPack *pack) {
    return tlei_pack_open(pack, b.data, b.size, "test", &e);
}

static void reads_contents(void **state) {
    (void)state;
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    TleiPack pack;
    assert_int_equal(open_bytes(b, &pack), TLE_STATUS_OK);
    assert_string_equal(tlei_pack_op(&pack), "topk_select");
    assert_string_equal(tlei_pack_arch(&pack), "sm_90a");
    assert_string_equal(tlei_pack_name(&pack, 1), "b__y");
    assert_int_equal(tlei_pack_find(&pack, "a__x"), 0);
    assert_int_equal(tlei_pack_find(&pack, "b__y"), 1);
    assert_int_equal(tlei_pack_find(&pack, "b"), -1);
    assert_int_equal(tlei_pack_find(&pack, "zzz"), -1);
    PackEntry first = tlei_pack_entry(&pack, 0);
    assert_int_equal(first.ptx, PACK_NO_BLOB);
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(tlei_pack_load(&pack, first.tir, &text, &size, &e), TLE_STATUS_OK);
    assert_int_equal(size, 5);
    assert_string_equal(text, "tir a");
    free(text);
    free(b.data);
}

static void works_unaligned(void **state) {
    (void)state;
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    uint8_t *moved = (uint8_t *)malloc(b.size + 1);
    memcpy(moved + 1, b.data, b.size);
    TleiPack pack;
    assert_int_equal(tlei_pack_open(&pack, moved + 1, b.size, "test", &e), TLE_STATUS_OK);
    assert_int_equal(tlei_pack_find(&pack, "b__y"), 1);
    free(moved);
    free(b.data);
}

/* Replaces blob 1 ("CUBIN-A") by compressed bytes appended to the file. */
static Bytes compressed_pack(const char *raw, size_t raw_size, size_t claim) {
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    size_t bound = ZSTD_compressBound(raw_size);
    char *packed = (char *)malloc(bound);
    size_t n = ZSTD_compress(packed, bound, raw, raw_size, 3);
    bytes_align(&b);
    PackBlob blob = {.offset = b.size, .stored_bytes = n, .raw_bytes = claim};
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, raw, raw_size);
    sha256_end(&sha, blob.sha256);
    bytes_add(&b, packed, n);
    uint64_t total = b.size;
    memcpy(b.data + sizeof(PackHeader) + 2 * sizeof(PackEntry) + sizeof blob, &blob, sizeof blob);
    memcpy(b.data + offsetof(PackHeader, file_bytes), &total, sizeof total);
    free(packed);
    return b;
}

static void decompresses(void **state) {
    (void)state;
    char raw[5000];
    memset(raw, 'x', sizeof raw);
    Bytes b = compressed_pack(raw, sizeof raw, sizeof raw);
    TleiPack pack;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(open_bytes(b, &pack), TLE_STATUS_OK);
    assert_int_equal(tlei_pack_load(&pack, 1, &text, &size, &e), TLE_STATUS_OK);
    assert_int_equal(size, sizeof raw);
    assert_memory_equal(text, raw, sizeof raw);
    free(text);
    free(b.data);
}

static void refuses_a_wrong_raw_size(void **state) {
    (void)state;
    char raw[5000];
    memset(raw, 'x', sizeof raw);
    for (int off = -1; off <= 1; off += 2) {
        Bytes b = compressed_pack(raw, sizeof raw, sizeof raw + (size_t)off);
        TleiPack pack;
        char *text = NULL;
        size_t size = 0;
        assert_int_equal(open_bytes(b, &pack), TLE_STATUS_OK);
        assert_int_equal(tlei_pack_load(&pack, 1, &text, &size, &e), TLE_STATUS_PACK_CORRUPT);
        free(b.data);
    }
}

static void refuses_changed_contents(void **state) {
    (void)state;
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    b.data[b.size - 1] ^= 1;
    TleiPack pack;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(open_bytes(b, &pack), TLE_STATUS_OK);
    assert_int_equal(tlei_pack_load(&pack, tlei_pack_entry(&pack, 1).ptx, &text, &size, &e),
                     TLE_STATUS_PACK_CORRUPT);
    assert_non_null(strstr(e.text, "SHA-256"));
    free(b.data);
}

typedef struct Damage {
    const char *what;
    size_t offset;
    uint32_t value;
    tle_status status;
} Damage;

#define ENTRY(i, field) (sizeof(PackHeader) + (i) * sizeof(PackEntry) + offsetof(PackEntry, field))
#define BLOB(i, field)                                                                             \
    (sizeof(PackHeader) + 2 * sizeof(PackEntry) + (i) * sizeof(PackBlob) +                         \
     offsetof(PackBlob, field))

static void refuses_damage(void **state) {
    (void)state;
    const Damage damages[] = {
        {"magic", offsetof(PackHeader, magic), 1, TLE_STATUS_PACK_CORRUPT},
        {"version", offsetof(PackHeader, version), 2, TLE_STATUS_PACK_VERSION},
        {"entries", offsetof(PackHeader, entry_count), 0xffffffff, TLE_STATUS_PACK_CORRUPT},
        {"blobs", offsetof(PackHeader, blob_count), 0xffffffff, TLE_STATUS_PACK_CORRUPT},
        {"strings", offsetof(PackHeader, string_bytes), 0xffffffff, TLE_STATUS_PACK_CORRUPT},
        {"no strings", offsetof(PackHeader, string_bytes), 0, TLE_STATUS_PACK_CORRUPT},
        {"unterminated strings", offsetof(PackHeader, string_bytes), 3, TLE_STATUS_PACK_CORRUPT},
        {"operator", offsetof(PackHeader, op_name), 5000, TLE_STATUS_PACK_CORRUPT},
        {"file size", offsetof(PackHeader, file_bytes), 80, TLE_STATUS_PACK_CORRUPT},
        {"name", ENTRY(0, name), 0x7fffffff, TLE_STATUS_PACK_CORRUPT},
        {"order", ENTRY(1, name), 0, TLE_STATUS_PACK_CORRUPT},
        {"no metadata", ENTRY(0, meta), PACK_NO_BLOB, TLE_STATUS_PACK_CORRUPT},
        {"blob index", ENTRY(0, cubin), 77, TLE_STATUS_PACK_CORRUPT},
        {"blob before data", BLOB(0, offset), 0, TLE_STATUS_PACK_CORRUPT},
        {"blob misaligned", BLOB(0, offset), 401, TLE_STATUS_PACK_CORRUPT},
        {"blob past end", BLOB(0, offset), 0x10000000, TLE_STATUS_PACK_CORRUPT},
        {"stored size", BLOB(0, stored_bytes), 0x10000000, TLE_STATUS_PACK_CORRUPT},
        {"raw below stored", BLOB(0, raw_bytes), 1, TLE_STATUS_PACK_CORRUPT},
        {"raw too large", BLOB(0, raw_bytes) + 4, 1, TLE_STATUS_PACK_CORRUPT},
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        Bytes b = make_pack("topk_select", "sm_90a", two, 2);
        TleiPack pack;
        memcpy(b.data + damages[i].offset, &damages[i].value, 4);
        tle_status status = open_bytes(b, &pack);
        if (status != damages[i].status)
            fail_msg("%s: %s", damages[i].what, tle_status_name(status));
        assert_true(strlen(e.text) > 10);
        free(b.data);
    }
}

static void refuses_every_truncation(void **state) {
    (void)state;
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    for (size_t n = 0; n < b.size; n++) {
        TleiPack pack;
        uint8_t *cut = (uint8_t *)malloc(n + 1);
        memcpy(cut, b.data, n);
        assert_int_equal(tlei_pack_open(&pack, cut, n, "cut", &e), TLE_STATUS_PACK_CORRUPT);
        free(cut);
    }
    free(b.data);
}

/* Whatever a byte becomes, opening and reading stay within the file (seen by the sanitizers). */
static void survives_any_byte(void **state) {
    (void)state;
    Bytes b = make_pack("topk_select", "sm_90a", two, 2);
    for (size_t i = 0; i < b.size; i++) {
        for (int v = 0; v < 256; v += 51) {
            TleiPack pack;
            uint8_t old = b.data[i];
            b.data[i] = (uint8_t)v;
            if (!open_bytes(b, &pack)) {
                tlei_pack_find(&pack, "b__y");
                for (uint32_t blob = 0; blob < pack.header.blob_count; blob++) {
                    char *text = NULL;
                    size_t size = 0;
                    if (!tlei_pack_load(&pack, blob, &text, &size, &e))
                        free(text);
                }
            }
            b.data[i] = old;
        }
    }
    free(b.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_contents),
        cmocka_unit_test(works_unaligned),
        cmocka_unit_test(decompresses),
        cmocka_unit_test(refuses_a_wrong_raw_size),
        cmocka_unit_test(refuses_changed_contents),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(survives_any_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

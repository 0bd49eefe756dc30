/* Rules, tables and the choice of a variant, over a device that records. */
#include "core/arch.h"
#include "core/handle.h"
#include "lib_fixture.h"

#include <cjson/cJSON.h>
#include <time.h>
#include <unistd.h>

/* ---- rules ---- */

static const TleiFactDef fact_defs[] = {
    {"k", TLEI_FACT_NUMBER}, {"align", TLEI_FACT_ALIGN}, {"dtype", TLEI_FACT_TEXT}};
static const TleiFactTable table = {fact_defs, 3};

static TleiRule rule_of(TleiPool *pool, const char *json) {
    TleiRule rule;
    cJSON *parsed = json ? cJSON_Parse(json) : NULL;
    assert_true(tlei_rule_compile(pool, table, parsed, &rule));
    cJSON_Delete(parsed);
    return rule;
}

static void rules_hold_or_say_why_not(void **state) {
    (void)state;
    TleiPool pool = {0};
    char text[128];
    TleiText out;
    const TleiFact facts[] = {{.number = 600}, {.number = 8}, {.text = "fp32"}};
    static const struct {
        const char *json, *why; /* NULL: holds */
    } cases[] = {
        {"{}", NULL},
        {NULL, NULL},
        {"{\"k\": [600, 600], \"align\": 4, \"dtype\": \"fp32\"}", NULL},
        {"{\"k\": [1, 599]}", "k = 600 is not in [1, 599]"},
        {"{\"k\": [601, 9007199254740992]}", "k = 600 is not in [601, 9007199254740992]"},
        {"{\"align\": 16}", "align = 8 is not a multiple of 16"},
        {"{\"dtype\": \"bf16\"}", "dtype = \"fp32\" is not \"bf16\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TleiRule rule = rule_of(&pool, cases[i].json);
        const TleiCond *cond = tlei_rule_failing(&rule, table, facts);
        assert_null(rule.problem);
        assert_int_equal(cond == NULL, cases[i].why == NULL);
        tlei_text_init(&out, text, sizeof text);
        if (cond) {
            tlei_cond_explain(cond, table, facts, &out);
            assert_string_equal(text, cases[i].why);
        }
    }
    tlei_pool_free(&pool);
}

static void malformed_rules_never_hold(void **state) {
    (void)state;
    TleiPool pool = {0};
    const TleiFact facts[] = {{.number = 600}, {.number = 8}, {.text = "fp32"}};
    static const struct {
        const char *json, *problem;
    } cases[] = {
        {"[]", "not an object"},
        {"{\"K\": [1, 2]}", "'K' is not a fact"},
        {"{\"k\": 600}", "'k' is not a range"},
        {"{\"k\": [1]}", "'k' is not a range"},
        {"{\"k\": [1.5, 700]}", "'k' is not a range"},
        {"{\"k\": [1, 1e300]}", "'k' is not a range"},
        {"{\"align\": 0}", "'align' is not a power of two"},
        {"{\"align\": 6}", "'align' is not a power of two"},
        {"{\"align\": [1, 2]}", "'align' is not a power of two"},
        {"{\"dtype\": 5}", "'dtype' is not a string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TleiRule rule = rule_of(&pool, cases[i].json);
        assert_non_null(rule.problem);
        if (!strstr(rule.problem, cases[i].problem))
            fail_msg("'%s' does not say '%s'", rule.problem, cases[i].problem);
        assert_false(tlei_rule_holds(&rule, table, facts));
    }
    tlei_pool_free(&pool);
}

static void architectures(void **state) {
    (void)state;
    TleiArch a;
    assert_true(tlei_arch_parse("sm_90a", &a));
    assert_int_equal(a.major * 100 + a.minor, 900);
    assert_int_equal(a.suffix, 'a');
    assert_true(tlei_arch_parse("sm_100f", &a));
    assert_int_equal(a.major, 10);
    assert_false(tlei_arch_parse("sm_9", &a));
    assert_false(tlei_arch_parse("sm_90x", &a));
    assert_false(tlei_arch_parse("sm_90aa", &a));
    assert_false(tlei_arch_parse("90a", &a));
    assert_true(tlei_arch_rank("sm_90a", 9, 0) > tlei_arch_rank("sm_90", 9, 0));
    assert_true(tlei_arch_rank("sm_100f", 10, 3) > tlei_arch_rank("sm_100", 10, 3));
    assert_true(tlei_arch_rank("sm_89", 8, 9) > tlei_arch_rank("sm_80", 8, 9));
    assert_int_equal(tlei_arch_rank("sm_100a", 10, 3), 0);
    assert_int_equal(tlei_arch_rank("sm_90a", 8, 0), 0);
    assert_int_equal(tlei_arch_rank("sm_89", 8, 0), 0);
    assert_int_equal(tlei_arch_rank("nonsense", 8, 0), 0);
}

/* ---- choosing ---- */

#define ANY  "topk_select__f32__any__v1__w4"
#define K512 "topk_select__f32__k512__v4__w4"
#define ODD  "topk_select__f32__odd__v1__w4"

static const FakeVariant variants[] = {
    {ANY, FAKE_META(ANY, ALL_PARAMS, "{\"k\": [1, 3000]}", ""), "ANY", NULL, NULL},
    {K512, FAKE_META(K512, ALL_PARAMS, "{\"k\": [512, 512], \"align\": 16}", ""), "K512", NULL,
     NULL},
    {ODD, FAKE_META(ODD, ALL_PARAMS, "{\"moon\": [0, 1]}", ""), "ODD", NULL, NULL},
};

static const char rules[] =
    "{\"schema\": 1, \"op\": \"topk_select\", \"arch\": \"sm_90a\","
    " \"provenance\": {\"sources\": \"0ld\", \"compiler\": \"0.0\", \"measured_on\": \"H200\"},"
    " \"rules\": ["
    "  {\"when\": {\"sun\": [1, 2]}, \"variant\": \"" ANY "\"},"
    "  {\"when\": {}, \"variant\": \"topk_select__gone\"},"
    "  {\"when\": {\"k\": [512, 512]}, \"variant\": \"" K512 "\"},"
    "  {\"when\": {\"columns\": [0, 100]}, \"variant\": \"" ANY "\"}]}";

static FakeFiles files;

static int setup(void **state) {
    (void)state;
    files_init(&files);
    files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_90a", variants, 3));
    files_add_text(&files, "dispatch/sm_90a/topk_select.json", rules);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unsetenv("TLE_FORCE_VARIANT");
    unsetenv("TLE_DISABLE_VARIANTS");
    files_free(&files);
    return 0;
}

static tle_handle make_handle(const char *overlay) {
    tle_handle h = NULL;
    TleiError e;
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    o.device_kind = TLE_DEVICE_CUDA;
    o.dispatch_overlay = overlay;
    if (tlei_create(&h, &o, &files.sources, &e))
        fail_msg("%s", e.text);
    return h;
}

static tle_topk_select_params call_of(int64_t columns, int64_t k, uintptr_t base) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = 1;
    p.columns = p.row_stride = columns;
    p.k = p.index_row_stride = k;
    p.scores = (const void *)base;
    p.indices = (int32_t *)(uintptr_t)0x70000000;
    return p;
}

/* The variant of a call, by the image that was loaded for it. */
static const char *chosen(tle_handle h, int64_t columns, int64_t k, uintptr_t base) {
    tle_topk_select_params p = call_of(columns, k, base);
    fake.launches = 0;
    if (tle_topk_select(h, &p, NULL, 0, NULL))
        return tle_last_error();
    assert_int_equal(fake.launches, 1);
    return fake.launch.variant;
}

static const char *explain(tle_handle h, const tle_topk_select_params *p) {
    static char text[4096];
    size_t needed = 0;
    assert_int_equal(tle_topk_select_explain(h, p, text, sizeof text, &needed), TLE_STATUS_OK);
    assert_int_equal(needed, strlen(text) + 1);
    return text;
}

static void says(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

static void table_then_first_legal(void **state) {
    (void)state;
    tle_handle h = make_handle(NULL);
    assert_string_equal(chosen(h, 4096, 512, 0x1000), K512);
    assert_string_equal(chosen(h, 4096, 512, 0x1004), ANY);
    assert_string_equal(chosen(h, 4095, 512, 0x1000), ANY);
    assert_string_equal(chosen(h, 50, 7, 0x1000), ANY);
    says(chosen(h, 5000, 3001, 0x1000),
         "none of 3 variants is legal: " ANY ": k = 3001 is not in [1, 3000]; " K512
         ": k = 3001 is not in [512, 512]; " ODD ": the rule's 'moon' is not a fact");
    tle_destroy(h);
}

/* A pack may serve devices with less shared memory than the one it was made for. */
static void what_does_not_fit_is_not_chosen(void **state) {
    (void)state;
    fake.shared_bytes = 40000; /* the variants ask for 49152 */
    tle_handle h = make_handle(NULL);
    says(chosen(h, 4096, 512, 0x1000),
         ANY ": it needs 49152 bytes of shared memory, more than the device has");
    tle_destroy(h);
    fake.shared_bytes = 49152;
    h = make_handle(NULL);
    assert_string_equal(chosen(h, 4096, 512, 0x1000), K512);
    tle_destroy(h);
}

static void explains_itself(void **state) {
    (void)state;
    tle_handle h = make_handle(NULL);
    tle_topk_select_params p = call_of(4096, 512, 0x1008);
    const char *text = explain(h, &p);
    says(text, "topk_select for sm_90a: rows=1 columns=4096 k=512 align=8 dtype=fp32 lengths=0 "
               "row_starts=0 form=0 sorted=0 sm_count=132\n");
    says(text, "measured on H200, compiler 0.0");
    says(text, "rule 1 -> " ANY ": skipped: the rule's 'sun' is not a fact");
    says(text, "rule 2 -> topk_select__gone: skipped: the library holds no such variant");
    says(text, "rule 3 -> " K512 ": align = 8 is not a multiple of 16");
    says(text, "rule 4 -> " ANY ": columns = 4096 is not in [0, 100]");
    says(text, "note: table dispatch/sm_90a/topk_select.json was measured with sources 0ld, the "
               "variant was built from 5eed");
    says(text, "no rule holds: the first legal variant by name\nchosen: " ANY "\n");
    char small[10];
    size_t needed = 0;
    assert_int_equal(tle_topk_select_explain(h, &p, small, sizeof small, &needed), TLE_STATUS_OK);
    assert_int_equal(needed, strlen(text) + 1);
    assert_string_equal(small, "topk_sele");
    assert_int_equal(tle_topk_select_explain(h, &p, NULL, 0, &needed), TLE_STATUS_OK);
    p.k = 0;
    says(explain(h, &p), "refused: k is 0");
    p.k = p.index_row_stride = 4000;
    says(explain(h, &p), "refused: topk_select: none of 3 variants is legal");
    tle_destroy(h);
}

static void forcing_and_disabling(void **state) {
    (void)state;
    setenv("TLE_FORCE_VARIANT", ANY, 1);
    tle_handle h = make_handle(NULL);
    assert_string_equal(chosen(h, 4096, 512, 0x1000), ANY);
    says(chosen(h, 4096, 3500, 0x1000), "TLE_FORCE_VARIANT names '" ANY "': k = 3500 is not in");
    tle_destroy(h);
    setenv("TLE_FORCE_VARIANT", "topk_select__nothing", 1);
    h = make_handle(NULL);
    says(chosen(h, 4096, 512, 0x1000), "holds none of that name");
    tle_destroy(h);
    setenv("TLE_FORCE_VARIANT", "other_op__x", 1);
    setenv("TLE_DISABLE_VARIANTS", "nothing,*k512*", 1);
    h = make_handle(NULL);
    assert_string_equal(chosen(h, 4096, 512, 0x1000), ANY);
    tle_topk_select_params p = call_of(4096, 512, 0x1000);
    says(explain(h, &p), K512 ": disabled by TLE_DISABLE_VARIANTS");
    tle_destroy(h);
    setenv("TLE_FORCE_VARIANT", "radix", 1);
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    TleiError e;
    o.device_kind = TLE_DEVICE_CUDA;
    assert_int_equal(tlei_create(&h, &o, &files.sources, &e), TLE_STATUS_INVALID_ARGUMENT);
    says(e.text, "TLE_FORCE_VARIANT is 'radix'");
}

/* ---- overlays ---- */

static char overlay_path[64];

static const char *overlay(const char *text) {
    snprintf(overlay_path, sizeof overlay_path, "/tmp/test_dispatch_%ld.json", (long)getpid());
    FILE *f = fopen(overlay_path, "w");
    fputs(text, f);
    fclose(f);
    return overlay_path;
}

static void overlay_comes_first(void **state) {
    (void)state;
    tle_handle h = make_handle(overlay("{\"schema\": 1, \"op\": \"topk_select\", \"rules\": "
                                       "[{\"variant\": \"" ANY "\"}]}"));
    assert_string_equal(chosen(h, 4096, 512, 0x1000), ANY);
    tle_topk_select_params p = call_of(4096, 512, 0x1000);
    says(explain(h, &p), overlay_path);
    tle_destroy(h);
    setenv("TLE_DISPATCH", overlay_path, 1);
    h = make_handle(NULL);
    assert_string_equal(chosen(h, 4096, 512, 0x1000), ANY);
    tle_destroy(h);
    unsetenv("TLE_DISPATCH");
    remove(overlay_path);
}

static void bad_overlays_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tle_status status;
        const char *says;
    } cases[] = {
        {"nonsense", TLE_STATUS_TABLE_INVALID, "not JSON"},
        {"[]", TLE_STATUS_TABLE_INVALID, "'op' is missing"},
        {"{\"op\": \"sort\"}", TLE_STATUS_TABLE_INVALID, "names no operator"},
        {"{\"op\": \"topk_select\"}", TLE_STATUS_TABLE_INVALID, "'schema' is missing"},
        {"{\"op\": \"topk_select\", \"schema\": 2}", TLE_STATUS_PACK_VERSION, "schema 2"},
        {"{\"op\": \"topk_select\", \"schema\": 1}", TLE_STATUS_TABLE_INVALID, "'rules'"},
        {"{\"op\": \"topk_select\", \"schema\": 1, \"rules\": [{}]}", TLE_STATUS_TABLE_INVALID,
         "no 'variant'"},
        {"{\"op\": \"topk_select\", \"schema\": 1, \"rules\": [{\"whn\": {}, \"variant\": \"x\"}]}",
         TLE_STATUS_TABLE_INVALID, "a rule has 'whn'"},
        {"{\"op\": \"topk_select\", \"schema\": 1, \"rules\": []} \n]", TLE_STATUS_TABLE_INVALID,
         "text after the JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tle_handle h = NULL;
        TleiError e;
        tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
        o.device_kind = TLE_DEVICE_CUDA;
        o.dispatch_overlay = overlay(cases[i].text);
        assert_int_equal(tlei_create(&h, &o, &files.sources, &e), cases[i].status);
        says(e.text, cases[i].says);
        says(e.text, overlay_path);
    }
    remove(overlay_path);
    tle_handle h = NULL;
    TleiError e;
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    o.device_kind = TLE_DEVICE_CUDA;
    o.dispatch_overlay = "/nowhere.json";
    assert_int_equal(tlei_create(&h, &o, &files.sources, &e), TLE_STATUS_TABLE_INVALID);
    says(e.text, "cannot be opened");
}

/* Choosing must cost less than a microsecond, of optimised code; without optimisation the limit
 * only shows that nothing is parsed or searched for by each call. */
#ifdef __OPTIMIZE__
static const double choice_limit_ns = 1000;
#else
static const double choice_limit_ns = 20000;
#endif

/* CPU time, since other programs may run. */
static double cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void choosing_is_fast(void **state) {
    (void)state;
    enum { CALLS = 200000 };
    tle_handle h = make_handle(NULL);
    tle_topk_select_params p = call_of(4096, 77, 0x1000);
    size_t size = 0;
    double begin = cpu_ns();
    for (int i = 0; i < CALLS; i++)
        tle_topk_select_workspace_size(h, &p, &size);
    double ns = (cpu_ns() - begin) / (double)CALLS;
    tle_destroy(h);
    print_message("validate and choose: %.0f ns\n", ns);
    assert_true(ns < choice_limit_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold_or_say_why_not),
        cmocka_unit_test(malformed_rules_never_hold),
        cmocka_unit_test(architectures),
        cmocka_unit_test_setup_teardown(table_then_first_legal, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_not_chosen, setup, teardown),
        cmocka_unit_test_setup_teardown(explains_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(forcing_and_disabling, setup, teardown),
        cmocka_unit_test_setup_teardown(overlay_comes_first, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_overlays_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(choosing_is_fast, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

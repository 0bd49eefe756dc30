/* Views of global memory; see view.h. */
#include "view.h"
#include <string.h>
#include <sys/mman.h>

#define PAGE_SHIFT 12

/* One mapping: the copy, a bit for each byte read and for each written, and for each page. */
typedef struct SpanView {
    uint8_t *map;
    uint64_t map_size;
    uint8_t *copy;
    uint64_t *read, *written, *seen, *copied;
} SpanView;

typedef struct InitView {
    uint8_t *map;
    uint64_t map_size;
    uint64_t *bits, *seen; /* as the region's; a bit for each 64 words */
} InitView;

typedef struct Place {
    uint32_t of; /* span or region */
    uint64_t page;
} Place;

struct View {
    const SpanTable *spans;
    Arena *arena;
    SpanView *at;
    InitView *inits; /* by region */
    uint32_t last;   /* span used last */
    VEC(Place) pages;
    VEC(Place) granules;
};

/* ---- spans -------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n) {
    return (n + VIEW_PAGE - 1) & ~(uint64_t)(VIEW_PAGE - 1);
}

SpanTable *view_spans(RegionTable *regions, Arena *a) {
    SpanTable *t = arena_new_of(a, SpanTable);
    t->regions = regions;
    t->at = arena_array(a, Span, regions->len + 1);
    for (uint32_t i = 0; i < regions->len; i++) {
        const Region *r = &regions->at[i];
        uint64_t base = r->base & ~(uint64_t)(VIEW_PAGE - 1), end = round_up(r->base + r->size);
        Span *s = t->count ? &t->at[t->count - 1] : NULL;
        if (r->freed)
            continue;
        if (!s || base >= s->base + s->size) {
            s = &t->at[t->count++];
            *s = (Span){.base = base, .first = i};
        }
        s->end = i + 1;
        s->size = end - s->base > s->size ? end - s->base : s->size;
        s->writable |= !r->read_only;
    }
    return t;
}

static bool is_in(const Span *s, uint64_t address, uint32_t bytes) {
    return address - s->base < s->size && s->size - (address - s->base) >= bytes;
}

/* Index of the span that holds the range; `count` if none does. */
static uint32_t span_of(const SpanTable *t, uint64_t address, uint32_t bytes) {
    uint32_t low = 0, high = t->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->at[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low && is_in(&t->at[low - 1], address, bytes) ? low - 1 : t->count;
}

/* ---- views -------------------------------------------------------------------------------- */

View *view_new(const SpanTable *spans, Arena *a) {
    View *v = arena_new_of(a, View);
    v->spans = spans;
    v->arena = a;
    v->at = arena_array(a, SpanView, spans->count + 1);
    v->inits = arena_array(a, InitView, spans->regions->len + 1);
    return v;
}

void view_free(View *v) {
    for (uint32_t i = 0; i < v->spans->count; i++)
        if (v->at[i].map)
            munmap(v->at[i].map, v->at[i].map_size);
    for (uint32_t i = 0; i < v->spans->regions->len; i++)
        if (v->inits[i].map)
            munmap(v->inits[i].map, v->inits[i].map_size);
}

static bool prepare(SpanView *m, const Span *s) {
    uint64_t bits = s->size / 8, page_bits = (s->size / VIEW_PAGE + 63) / 64 * 8;
    if (m->map)
        return true;
    m->map_size = s->size + 2 * bits + 2 * page_bits;
    m->map = memory_map_pages(m->map_size);
    m->copy = m->map;
    m->read = (void *)(m->map + s->size);
    m->written = m->read + bits / 8;
    m->seen = m->written + bits / 8;
    m->copied = m->seen + page_bits / 8;
    return m->map != NULL;
}

static bool has(const uint64_t *bits, uint64_t i) {
    return bits[i >> 6] >> (i & 63) & 1;
}

/* The parts of the page that are memory of the device: nothing else may be looked at. */
static void copy_page(const View *v, uint32_t span, uint64_t page) {
    const Span *s = &v->spans->at[span];
    uint64_t low = s->base + (page << PAGE_SHIFT), high = low + VIEW_PAGE;
    for (uint32_t i = s->first; i < s->end; i++) {
        const Region *r = &v->spans->regions->at[i];
        uint64_t from = r->base > low ? r->base : low;
        uint64_t to = r->base + r->size < high ? r->base + r->size : high;
        if (r->base >= high)
            break;
        if (!r->freed && from < to)
            memcpy(v->at[span].copy + (from - s->base), (const void *)(uintptr_t)from, to - from);
    }
    bits_set(v->at[span].copied, page, 1);
}

uint8_t *view_use(View *v, uint64_t address, uint32_t bytes, AccessKind kind, bool stays) {
    const SpanTable *t = v->spans;
    if (v->last >= t->count || !is_in(&t->at[v->last], address, bytes))
        v->last = span_of(t, address, bytes);
    if (v->last >= t->count)
        return NULL;
    if (bytes == 0)
        return (uint8_t *)(uintptr_t)address;
    const Span *s = &t->at[v->last];
    SpanView *m = &v->at[v->last];
    uint64_t off = address - s->base, first = off >> PAGE_SHIFT;
    uint64_t last = (off + bytes - 1) >> PAGE_SHIFT;
    bool own = stays || (kind & ACCESS_WRITE);
    if (!s->writable)
        return (uint8_t *)(uintptr_t)address;
    if (!prepare(m, s))
        return NULL;
    for (uint64_t p = first; p <= last; p++) {
        own |= has(m->copied, p);
        if (has(m->seen, p))
            continue;
        bits_set(m->seen, p, 1);
        vec_push(v->arena, &v->pages, ((Place){v->last, p}));
    }
    if (kind & ACCESS_READ)
        bits_set(m->read, off, bytes);
    if (kind & ACCESS_WRITE)
        bits_set(m->written, off, bytes);
    for (uint64_t p = first; own && p <= last; p++)
        if (!has(m->copied, p))
            copy_page(v, v->last, p);
    return own ? m->copy + off : (uint8_t *)(uintptr_t)address;
}

const uint8_t *view_peek(const View *v, uint64_t address) {
    uint32_t i = span_of(v->spans, address, 1);
    if (i < v->spans->count && v->at[i].map) {
        uint64_t off = address - v->spans->at[i].base;
        if (has(v->at[i].copied, off >> PAGE_SHIFT))
            return v->at[i].copy + off;
    }
    return (const uint8_t *)(uintptr_t)address;
}

uint64_t view_address(const View *v, const uint8_t *place) {
    for (uint32_t i = 0; i < v->spans->count; i++)
        if (v->at[i].map && place >= v->at[i].copy && place < v->at[i].copy + v->spans->at[i].size)
            return v->spans->at[i].base + (uint64_t)(place - v->at[i].copy);
    return (uint64_t)(uintptr_t)place;
}

uint64_t *view_init(View *v, const Region *r, uint64_t offset, uint64_t bytes) {
    uint32_t region = (uint32_t)(r - v->spans->regions->at);
    InitView *m = &v->inits[region];
    uint64_t seen_size = (r->init_size / (8 * VIEW_WORDS) + 63) / 64 * 8;
    if (!m->map) {
        m->map_size = r->init_size + seen_size;
        m->map = memory_map_pages(m->map_size);
        m->bits = (void *)m->map;
        m->seen = m->bits + r->init_size / 8;
    }
    if (!m->map)
        return NULL;
    for (uint64_t g = offset / VIEW_PAGE; bytes && g <= (offset + bytes - 1) / VIEW_PAGE; g++) {
        if (has(m->seen, g))
            continue;
        bits_set(m->seen, g, 1);
        memcpy(m->bits + g * VIEW_WORDS, r->init + g * VIEW_WORDS, VIEW_WORDS * sizeof *m->bits);
        vec_push(v->arena, &v->granules, ((Place){region, g}));
    }
    return m->bits;
}

/* ---- logs --------------------------------------------------------------------------------- */

static bool any(const uint64_t *words) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < VIEW_WORDS; i++)
        all |= words[i];
    return all != 0;
}

static void take_page(View *v, Arena *a, ViewLog *log, Place p) {
    SpanView *m = &v->at[p.of];
    ViewPage *page = arena_new_of(a, ViewPage);
    uint64_t *read = m->read + p.page * VIEW_WORDS, *written = m->written + p.page * VIEW_WORDS;
    page->address = v->spans->at[p.of].base + (p.page << PAGE_SHIFT);
    memcpy(page->read, read, sizeof page->read);
    memcpy(page->written, written, sizeof page->written);
    if (any(written)) {
        uint8_t *bytes = arena_alloc(a, VIEW_PAGE);
        memcpy(bytes, m->copy + (p.page << PAGE_SHIFT), VIEW_PAGE);
        page->bytes = bytes;
    }
    memset(read, 0, sizeof page->read);
    memset(written, 0, sizeof page->written);
    bits_clear(m->seen, p.page, 1);
    bits_clear(m->copied, p.page, 1);
    vec_push(a, &log->pages, page);
}

static void take_init(View *v, Arena *a, ViewLog *log, Place p) {
    InitView *m = &v->inits[p.of];
    uint64_t *was = v->spans->regions->at[p.of].init + p.page * VIEW_WORDS;
    const uint64_t *is = m->bits + p.page * VIEW_WORDS;
    bits_clear(m->seen, p.page, 1);
    if (memcmp(was, is, VIEW_WORDS * sizeof *is) == 0)
        return;
    ViewInit *init = arena_new_of(a, ViewInit);
    init->bits = was;
    for (uint32_t i = 0; i < VIEW_WORDS; i++) {
        init->set[i] = is[i] & ~was[i];
        init->clear[i] = was[i] & ~is[i];
    }
    vec_push(a, &log->inits, init);
}

void view_take(View *v, Arena *a, ViewLog *log) {
    *log = (ViewLog){0};
    for (uint32_t i = 0; i < v->pages.len; i++)
        take_page(v, a, log, v->pages.data[i]);
    for (uint32_t i = 0; i < v->granules.len; i++)
        take_init(v, a, log, v->granules.data[i]);
    v->pages.len = v->granules.len = 0;
}

static void apply_page(const ViewPage *p) {
    uint8_t *to = (uint8_t *)(uintptr_t)p->address;
    for (uint32_t i = 0; i < VIEW_WORDS; i++) {
        if (p->written[i] == ~(uint64_t)0) {
            memcpy(to + 64 * i, p->bytes + 64 * i, 64);
            continue;
        }
        for (uint64_t left = p->written[i]; left; left &= left - 1) {
            uint32_t at = 64 * i + (uint32_t)__builtin_ctzll(left);
            to[at] = p->bytes[at];
        }
    }
}

void view_apply(const ViewLog *log) {
    for (uint32_t i = 0; i < log->pages.len; i++)
        if (log->pages.data[i]->bytes)
            apply_page(log->pages.data[i]);
    for (uint32_t i = 0; i < log->inits.len; i++)
        for (uint32_t k = 0; k < VIEW_WORDS; k++)
            log->inits.data[i]->bits[k] =
                (log->inits.data[i]->bits[k] | log->inits.data[i]->set[k]) &
                ~log->inits.data[i]->clear[k];
}

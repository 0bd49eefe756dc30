/* UTF-8: decoding, encoding, and the width of characters on a terminal. */
#include "source/utf8.h"

uint32_t utf8_decode(const char *text, size_t len, uint32_t *bytes_out) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    *bytes_out = 1;
    if (s[0] < 0x80)
        return s[0];
    uint32_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
        return UTF8_INVALID;
    uint32_t c = s[0] & (0xffu >> (n + 1));
    for (uint32_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return UTF8_INVALID;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return UTF8_INVALID;
    *bytes_out = n;
    return c;
}

uint32_t utf8_encode(uint32_t c, char out[4]) {
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[n] | c);
    return n;
}

typedef struct Range {
    uint32_t lo, hi;
} Range;

/* The blocks that matter in source text; rare scripts count as one column. */
static const Range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};
static const Range combining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static int in_ranges(const Range *r, size_t count, uint32_t c) {
    for (size_t i = 0; i < count; i++)
        if (c >= r[i].lo && c <= r[i].hi)
            return 1;
    return 0;
}

uint32_t utf8_width(uint32_t c) {
    if (c < 0x300)
        return 1;
    if (in_ranges(combining, sizeof combining / sizeof *combining, c))
        return 0;
    return in_ranges(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

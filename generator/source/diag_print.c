/* Diagnostics as text and as JSON.
 *
 * The source line is printed with tabs expanded and with bytes that are not text replaced by
 * U+FFFD, so that the marks below it line up; of a very long line only a window around the span is
 * shown. A span over several lines is marked to the end of its first line. */
#include "source/diag_impl.h"
#include "source/utf8.h"

#include <string.h>

enum { TAB_WIDTH = 4, WINDOW_BEFORE = 100, WINDOW_BYTES = 200 };

static const unsigned code_numbers[] = {
#define X(name, number, summary) number,
#include "source/diag.def"
#undef X
};

typedef struct Style {
    const char *strong, *error, *warning, *note, *mark, *off;
} Style;

static const Style plain = {"", "", "", "", "", ""};
static const Style coloured = {"\033[1m",    "\033[1;31m", "\033[1;35m",
                               "\033[1;36m", "\033[1;32m", "\033[0m"};

typedef struct Line {
    const char *text; /* the window of the line that is shown */
    size_t len, lo, hi;
    bool cut_before, cut_after;
} Line;

static bool continues_character(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The line of a span; lo and hi are relative to the window. */
static Line find_line(const Sources *s, Span at) {
    size_t len;
    const char *text = source_text(s, at.file, &len);
    size_t lo = at.lo < len ? at.lo : len, start = lo, end = lo;
    uint32_t line, col;
    source_place(s, at.file, (uint32_t)lo, &line, &col);
    start = lo - (col - 1 <= lo ? col - 1 : lo);
    while (end < len && text[end] != '\n' && text[end] != '\r')
        end++;
    Line l = {0};
    if (lo - start > WINDOW_BEFORE && end - start > WINDOW_BYTES) {
        l.cut_before = true;
        for (start = lo - WINDOW_BEFORE; start < lo && continues_character(text[start]);)
            start++;
    }
    if (end - start > WINDOW_BYTES) {
        l.cut_after = true;
        for (end = start + WINDOW_BYTES; end > lo && continues_character(text[end]);)
            end--;
    }
    size_t hi = at.hi < end ? at.hi : end;
    l.text = text + start;
    l.len = end - start;
    l.lo = lo - start;
    l.hi = hi > lo ? hi - start : l.lo;
    return l;
}

static uint32_t width_at(const Line *l, size_t i, uint32_t column, uint32_t *bytes) {
    if (l->text[i] == '\t') {
        *bytes = 1;
        return TAB_WIDTH - column % TAB_WIDTH;
    }
    uint32_t c = utf8_decode(l->text + i, l->len - i, bytes);
    return c == UTF8_INVALID ? 1 : utf8_width(c);
}

static void put_line(const Line *l, FILE *out) {
    uint32_t column = 0, bytes = 0;
    fputs(l->cut_before ? " ..." : "    ", out);
    for (size_t i = 0; i < l->len; i += bytes) {
        uint32_t width = width_at(l, i, column, &bytes);
        unsigned char c = (unsigned char)l->text[i];
        if (c == '\t')
            fprintf(out, "%*s", (int)width, "");
        else if ((bytes == 1 && c >= 0x80) || c < 0x20 || c == 0x7f)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(l->text + i, 1, bytes, out);
        column += width;
    }
    fputs(l->cut_after ? "...\n" : "\n", out);
}

static void put_marks(const Line *l, const Style *style, FILE *out) {
    uint32_t column = 0, bytes = 0;
    fputs("    ", out);
    size_t i = 0;
    for (; i < l->lo; i += bytes) {
        uint32_t width = width_at(l, i, column, &bytes);
        fprintf(out, "%*s", (int)width, "");
        column += width;
    }
    fprintf(out, "%s^", style->mark);
    uint32_t from = column;
    for (; i < l->hi; i += bytes) {
        uint32_t width = width_at(l, i, column, &bytes);
        for (uint32_t k = 0; k < width; k++, column++)
            if (column > from)
                fputc('~', out);
    }
    fprintf(out, "%s\n", style->off);
}

static void put_head(const Diag *d, Span at, const Style *style, FILE *out) {
    if (!at.file)
        return;
    uint32_t line, col;
    source_place(d->sources, at.file, at.lo, &line, &col);
    fprintf(out, "%s%s:%u:%u:%s ", style->strong, source_name(d->sources, at.file), line, col,
            style->off);
}

static void put_source(const Diag *d, Span at, const Style *style, FILE *out) {
    if (!at.file)
        return;
    Line l = find_line(d->sources, at);
    put_line(&l, out);
    put_marks(&l, style, out);
}

static void put_message(const Diag *d, const Message *m, const Style *style, FILE *out) {
    put_head(d, m->at, style, out);
    fprintf(out, "%s%s[E%04u]:%s %s\n", m->is_error ? style->error : style->warning,
            m->is_error ? "error" : "warning", code_numbers[m->code], style->off, m->text);
    put_source(d, m->at, style, out);
    for (uint32_t i = 0; i < m->notes.len; i++) {
        const Note *n = &m->notes.data[i];
        put_head(d, n->at, style, out);
        fprintf(out, "%snote:%s %s\n", style->note, style->off, n->text);
        put_source(d, n->at, style, out);
    }
}

static uint32_t not_shown(const Diag *d) {
    return d->errors > DIAG_LIMIT ? d->errors - DIAG_LIMIT : 0;
}

void diag_print(const Diag *d, FILE *out, bool colour) {
    const Style *style = colour ? &coloured : &plain;
    for (uint32_t i = 0; i < d->messages.len; i++)
        put_message(d, &d->messages.data[i], style, out);
    uint32_t more = not_shown(d);
    if (more)
        fprintf(out, "%u more error%s not shown\n", more, more == 1 ? "" : "s");
}

static void json_string(const char *text, FILE *out) {
    size_t len = strlen(text);
    uint32_t bytes = 0;
    fputc('"', out);
    for (size_t i = 0; i < len; i += bytes) {
        uint32_t c = utf8_decode(text + i, len - i, &bytes);
        if (c == UTF8_INVALID)
            fputs("\\ufffd", out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (int)c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fwrite(text + i, 1, bytes, out);
    }
    fputc('"', out);
}

static void json_place(const Diag *d, Span at, FILE *out) {
    if (!at.file)
        return;
    uint32_t line, col, end_line, end_col;
    source_place(d->sources, at.file, at.lo, &line, &col);
    source_place(d->sources, at.file, at.hi, &end_line, &end_col);
    fputs("\"path\":", out);
    json_string(source_name(d->sources, at.file), out);
    fprintf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u,", line, col,
            end_line, end_col);
}

static void json_message(const Diag *d, const Message *m, FILE *out) {
    fprintf(out, "{\"severity\":\"%s\",\"code\":\"E%04u\",", m->is_error ? "error" : "warning",
            code_numbers[m->code]);
    json_place(d, m->at, out);
    fputs("\"message\":", out);
    json_string(m->text, out);
    fputs(",\"notes\":[", out);
    for (uint32_t i = 0; i < m->notes.len; i++) {
        fputs(i ? ",{" : "{", out);
        json_place(d, m->notes.data[i].at, out);
        fputs("\"message\":", out);
        json_string(m->notes.data[i].text, out);
        fputc('}', out);
    }
    fputs("]}", out);
}

void diag_print_json(const Diag *d, FILE *out) {
    fputs("{\"diagnostics\":[", out);
    for (uint32_t i = 0; i < d->messages.len; i++) {
        fputs(i ? ",\n" : "\n", out);
        json_message(d, &d->messages.data[i], out);
    }
    fprintf(out, "\n],\"errors\":%u,\"warnings\":%u,\"not_shown\":%u}\n", d->errors, d->warnings,
            not_shown(d));
}

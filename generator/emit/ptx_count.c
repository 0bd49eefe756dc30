/* Counting PTX instructions, see ptx_count.h. One pass over the characters: the first character of
 * a statement decides whether it is a directive; braces and labels start a new statement. */
#include "emit/ptx_count.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Past a comment that starts at p, else p. */
static const char *skip_comment(const char *p, const char *end) {
    if (end - p < 2 || p[0] != '/')
        return p;
    if (p[1] == '/') {
        const char *line = memchr(p, '\n', (size_t)(end - p));

        return line ? line : end;
    }
    if (p[1] != '*')
        return p;
    for (p += 2; p + 1 < end; p++)
        if (p[0] == '*' && p[1] == '/')
            return p + 2;
    return end;
}

/* Braces open blocks only where a statement could start: in mid-statement they hold vectors. */
uint32_t ptx_count(const char *ptx, size_t len) {
    const char *end = ptx + len;
    uint32_t count = 0;
    char first = 0; /* of the current statement */

    for (const char *p = ptx; p < end;) {
        const char *q = skip_comment(p, end);

        if (q != p) {
            p = q;
            continue;
        }
        char ch = *p++;
        if (isspace((unsigned char)ch))
            first = first == '.' && ch == '\n' ? 0 : first;
        else if (ch == ';') {
            count += first && first != '.';
            first = 0;
        } else if ((ch == '{' || ch == '}') && (!first || first == '.'))
            first = 0;
        else if (ch == ':' && first == '$')
            first = 0;
        else if (!first && ch != '(' && ch != ')')
            first = ch;
    }
    return count;
}

/* The GPU's answers: a head, then for every program, exact ones first, 4 bytes of the hash of its
 * text and 8 of the hash of its output; then the outputs of the approximate programs themselves.
 * All in the byte order of x86-64; compressed by zstd as one frame. */
#ifndef DIFF_CORPUS_H
#define DIFF_CORPUS_H

#include <stdint.h>

#define DIFF_CORPUS_MAGIC 0x46464944u /* "DIFF" */

typedef struct DiffCorpusHead {
    uint32_t magic, version, exact, approx;
} DiffCorpusHead;

enum { DIFF_CORPUS_ANSWER = 12 };

#endif

/* The texts of a folder as one string, for the demo to search: regular files in the order of their
 * names, white space collapsed to single spaces. */
#ifndef DEMO_CORPUS_H
#define DEMO_CORPUS_H

#include <stddef.h>

enum { CORPUS_MAX_FILES = 64 };

typedef struct CorpusFile {
    char name[64];
    size_t begin; /* offset of its text in the corpus */
} CorpusFile;

typedef struct Corpus {
    char *text;
    size_t length;
    CorpusFile files[CORPUS_MAX_FILES];
    size_t file_count;
} Corpus;

/* Reads a folder; links are skipped, since they name texts that are there already. Returns 0, or -1
 * with a sentence on stderr. */
int corpus_load(Corpus *corpus, const char *folder);
void corpus_free(Corpus *corpus);

/* The name of the file that holds the character at an offset. */
const char *corpus_file_at(const Corpus *corpus, size_t offset);

#endif

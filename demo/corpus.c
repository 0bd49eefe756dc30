/* Reading the licence texts. Sorted names make the corpus, and so the scores, the same on every
 * machine that has the same texts. */
#define _DEFAULT_SOURCE
#include "corpus.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a character, folding every run of white space into one space. */
static void append(Corpus *corpus, int c) {
    if (isspace(c)) {
        if (corpus->length == 0 || corpus->text[corpus->length - 1] == ' ') {
            return;
        }
        c = ' ';
    }
    corpus->text[corpus->length++] = (char)c;
}

static long file_size(FILE *file) {
    if (fseek(file, 0, SEEK_END) != 0) {
        return -1;
    }
    long size = ftell(file);
    rewind(file);
    return size;
}

static int append_file(Corpus *corpus, const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return -1;
    }
    long size = file_size(file);
    char *grown = size < 0 ? NULL : realloc(corpus->text, corpus->length + (size_t)size + 1);
    if (!grown) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        fclose(file);
        return -1;
    }
    corpus->text = grown;
    CorpusFile *entry = &corpus->files[corpus->file_count++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->begin = corpus->length;
    for (int c = getc(file); c != EOF && size > 0; c = getc(file), size--) {
        append(corpus, c);
    }
    corpus->text[corpus->length] = 0;
    fclose(file);
    return 0;
}

static int is_regular(const struct dirent *entry) {
    return entry->d_type == DT_REG;
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

int corpus_load(Corpus *corpus, const char *folder) {
    memset(corpus, 0, sizeof *corpus);
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_regular, by_bytes);
    if (count <= 0) {
        fprintf(stderr, "demo: there are no texts in %s\n", folder);
        free(names);
        return -1;
    }
    int status = 0;
    for (int i = 0; i < count; i++) {
        if (status == 0 && i < CORPUS_MAX_FILES) {
            status = append_file(corpus, folder, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

void corpus_free(Corpus *corpus) {
    free(corpus->text);
    corpus->text = NULL;
}

const char *corpus_file_at(const Corpus *corpus, size_t offset) {
    size_t i = corpus->file_count;
    while (i > 1 && corpus->files[i - 1].begin > offset) {
        i--;
    }
    return corpus->files[i - 1].name;
}

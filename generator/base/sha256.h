/* SHA-256, for content hashes of sources and packs. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} Sha256;

void sha256_init(Sha256 *s);
void sha256_add(Sha256 *s, const void *data, size_t len);
void sha256_end(Sha256 *s, uint8_t digest[32]);
void sha256_end_hex(Sha256 *s, char hex[65]);
/* Lower-case hex of the whole digest, NUL-terminated. */
void sha256_hex(const void *data, size_t len, char hex[65]);

#endif

/* SPDX-License-Identifier: MIT */
/* The keys of chunks. */
#ifndef ZB_ARRAY_KEYS_H
#define ZB_ARRAY_KEYS_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Longest suffix in bytes: keys are file names, which end at 255. */
#define ZB__SUFFIX_MAX 64

enum zb__key_form {
    ZB__KEYS_DEFAULT, /* c/0/1 */
    ZB__KEYS_V2,      /* 0/1 */
    ZB__KEYS_JOINED,  /* c0/1, as drafts of the specification had it */
    ZB__KEYS_FANOUT   /* c/0/000/0/001 */
};

/* The form in which a chunk's place in the grid becomes its key. */
typedef struct zb__key_encoding {
    enum zb__key_form form;
    char separator;                  /* '/' or '.' */
    uint8_t digits;                  /* of fanout: decimal digits in each part of a key */
    char suffix[ZB__SUFFIX_MAX + 1]; /* behind each key; has no '/' */
} zb__key_encoding;

/* Longest chunk key behind the node's path: "c", and 32 times a separator, one digit and twice a
   separator and 19 digits (of fanout, whose parts are longest so), and the suffix. */
#define ZB__CHUNK_KEY_MAX (1 + ZB_MAX_NDIM * 42 + ZB__SUFFIX_MAX + 1)

/* From the value of chunk_key_encoding in a document. */
enum zb_code zb__keys_parse(const zb_json *value, zb__key_encoding *out, zb_error *err);

/* The keys of a draft's document, which gives the separator in its grid. */
enum zb_code zb__keys_of_draft(const zb_json *grid, zb__key_encoding *out, zb_error *err);

/* ZB_EFORMAT where a draft's grid gives a separator that is not that of the document's chunk key
   encoding: the chunks would be looked for under names that they may not have, and read as fill.
   grid: the members of the grid, or NULL. */
enum zb_code zb__keys_agree(const zb__key_encoding *keys, const zb_json *grid, zb_error *err);

/* Writes the value, in the form that all readers take. Not for drafts' keys. */
void zb__keys_print(zb_json_writer *w, const zb__key_encoding *keys);

bool zb__keys_same(const zb__key_encoding *a, const zb__key_encoding *b);

/* Writes the key of the chunk at grid index[ndim], below the array's own path, into text. */
void zb__chunk_key(const zb__key_encoding *keys, uint32_t ndim, const uint64_t *index,
                   char text[ZB__CHUNK_KEY_MAX]);

/* Reads a chunk key below the array's path; false when the text is not one. Each index has one key,
   so that other spellings are no keys. */
bool zb__chunk_key_parse(const zb__key_encoding *keys, uint32_t ndim, const char *text,
                         uint64_t *index);

/* True for the last part of a key if a chunk of some array may be called so, of whatever encoding
   without a suffix: "0", "1.2", "c", "c.0.1", "c12". */
bool zb__chunk_key_is_like(const char *name);

/* True if chunk keys can lie below a directory of this name in the array's own. */
bool zb__chunk_key_enters(const zb__key_encoding *keys, const char *name);

#endif

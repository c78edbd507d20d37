/* SPDX-License-Identifier: MIT */
#include "node/notes.h"

#include <stdlib.h>
#include <string.h>

#include "node/path.h"
#include "zarrbridge/sys/store.h"

#define TAIL ".zb-journal"

/* Longer notes are not ours, and are another program's in any case. */
#define NOTE_MAX 4096

enum zb_code zb__note_look(zb_store *store, const char *key, const char *token, bool *is_there,
                           bool *is_ours, zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    enum zb_code code = zb_store_get(store, key, NOTE_MAX, "of a note", &text, &size, NULL, err);
    *is_there = code != ZB_ENOTFOUND;
    *is_ours = !code && size > 0 && size == strlen(token) && memcmp(text, token, size) == 0;
    free(text);
    return code == ZB_ENOTFOUND || code == ZB_ELIMIT ? ZB_OK : code;
}

char *zb__journal_key(const char *shard) {
    const char *name = zb__path_name(shard);
    size_t above = (size_t)(name - shard), length = strlen(name);
    char *out = malloc(above + 1 + length + sizeof TAIL);
    if (!out)
        return NULL;
    memcpy(out, shard, above);
    out[above] = '.';
    memcpy(out + above + 1, name, length);
    memcpy(out + above + 1 + length, TAIL, sizeof TAIL);
    return out;
}

char *zb__journal_shard(const char *journal) {
    char *out = strdup(journal);
    if (out) {
        size_t at = (size_t)(zb__path_name(journal) - journal);
        size_t length = strlen(journal + at) - sizeof TAIL;
        memmove(out + at, journal + at + 1, length);
        out[at + length] = '\0';
    }
    return out;
}

bool zb__journal_is_name(const char *name) {
    size_t length = strlen(name), tail = sizeof TAIL - 1;
    return name[0] == '.' && length > 1 + tail && strcmp(name + length - tail, TAIL) == 0;
}

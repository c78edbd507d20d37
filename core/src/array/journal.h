/* SPDX-License-Identifier: MIT */
/*
 * Journals: what is put beside a shard before it is changed in place, so that a change that was
 * killed can be undone. A journal is an object of its own, ".NAME.zb-journal" in the directory of
 * NAME; it is erased when the change is complete.
 *
 * Undoing trusts the shard more than the journal: it only takes back what can be shown to be the
 * journal's own unfinished work. A journal that was left over by a change that had been completed,
 * or whose shard somebody has replaced since, does nothing and goes.
 */
#ifndef ZB_ARRAY_JOURNAL_H
#define ZB_ARRAY_JOURNAL_H

#include "array/writer.h"

#define ZB__JOURNAL_TAIL ".zb-journal"

/* A place in the shard that is going to be written. */
typedef struct zb__journal_piece {
    uint64_t unit, offset, size;
    uint64_t crc; /* crc32c; append: of what will be there; in place: of what was there */
} zb__journal_piece;

/* Append: count pieces behind old_size. In place: as many, followed by their old bytes. */
typedef struct zb__journal {
    uint64_t magic;
    uint64_t in_place; /* else an append */
    uint64_t old_size, new_size;
    uint64_t index_crc; /* crc32c of the old index as it is stored */
    uint64_t count;
    zb__journal_piece piece[];
} zb__journal;

/* Room for a journal with `bytes` more behind its pieces, where *old then points. NULL when memory
   runs out. zb__journal_put wants in_place, the sizes and index_crc filled in. */
zb__journal *zb__journal_new(uint64_t count, uint64_t bytes, uint8_t **old);

enum zb_code zb__journal_put(zb_store *store, const char *key, zb__journal *journal, uint64_t bytes,
                             enum zb_durability durability, zb_error *err);
enum zb_code zb__journal_erase(zb_store *store, const char *key, zb_error *err);

/* Writes the old bytes of all pieces back. */
enum zb_code zb__journal_restore(const zb__journal *journal, const uint8_t *old, zb_object *live,
                                 enum zb_durability durability, zb_error *err);

/* Undoes an unfinished change of the key's object and erases the journal, if there is one. *undone
   (may be NULL): something was taken back. Called under the key's lock. */
enum zb_code zb__journal_replay(zb_store *store, const zb__layout *layout, const char *key,
                                bool *undone, zb_error *err);

/* The journal's key: malloc'ed, or NULL. */
char *zb__journal_key(const char *key);
/* Is this the last part of a journal's key? */
bool zb__journal_is_name(const char *name);

#endif

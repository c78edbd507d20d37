/* SPDX-License-Identifier: MIT */
/*
 * Journals: a journal is put beside a shard before it is changed in place, so that a change that
 * was killed can be undone. It is an object of its own (zb__journal_key), and erased when the
 * change is complete. It lies in the home of the shard's array, as the shard does, by whatever path
 * others come to that array.
 *
 * Undoing trusts the shard more than the journal: it only takes back bytes that can be shown to be
 * the journal's own unfinished work. For that the journal keeps a checksum of each block that is
 * going to be written. A kill leaves new blocks up to some point and old ones behind it, a loss of
 * power a mixture of both; one block may be torn where a write ended. Anything else was damaged by
 * something else, perhaps long after the change had been completed, and old bytes do not cure that.
 * A journal that was left over by a change that had been completed, or whose shard has been
 * replaced since, does nothing and goes.
 */
#ifndef ZB_WRITE_JOURNAL_H
#define ZB_WRITE_JOURNAL_H

#include "write/writer.h"
#include "zarrbridge/node.h"
#include "zarrbridge/sys/store.h"

/* The least that a disk writes in one go, in bytes: blocks begin at its multiples in the shard. */
#define ZB__JOURNAL_BLOCK 512u

/* A place in the shard that is going to be written. */
typedef struct zb__journal_range {
    uint64_t inner; /* in place: the inner chunk */
    uint64_t offset, size;
} zb__journal_range;

/* A journal is one block of memory and of the store: this head, then the crc32c of each block of
   each piece as it is going to be, then, in place, the old bytes of the pieces. Append: the pieces
   are the new inner chunks, and as the last one the new index. */
typedef struct zb__journal {
    uint64_t magic;
    uint64_t in_place; /* 0: an append */
    uint64_t old_size, new_size;
    uint64_t index_crc; /* append: crc32c of the old index as it is stored */
    uint64_t count;     /* pieces */
    uint64_t blocks;    /* touched by all pieces noted so far */
    uint64_t old_bytes;
    uint8_t tail[ZB__JOURNAL_BLOCK]; /* the last block of the last piece as it is going to be */
    zb__journal_range piece[];
} zb__journal;

/* The number of blocks that these bytes of a shard touch. */
uint64_t zb__journal_blocks(uint64_t offset, uint64_t size);

/* Room for a journal of that many pieces, blocks, and old bytes. NULL when memory runs out. */
zb__journal *zb__journal_new(uint64_t count, uint64_t blocks, uint64_t old_bytes);
uint8_t *zb__journal_old(const zb__journal *journal);

/* Notes the next piece and the checksums of its new bytes. */
void zb__journal_note(zb__journal *journal, uint64_t number, uint64_t inner, uint64_t offset,
                      const uint8_t *data, uint64_t size);

/* Puts a journal whose pieces, sizes and old bytes are filled in. */
enum zb_code zb__journal_put(const zb_node *array, const char *key, zb__journal *journal,
                             enum zb_sync sync, zb_error *err);
enum zb_code zb__journal_erase(const zb_node *array, const char *key, zb_error *err);

/* In place: writes the old bytes of all pieces back. */
enum zb_code zb__journal_restore(const zb__journal *journal, zb_object *live, enum zb_sync sync,
                                 zb_error *err);

/* Undoes an unfinished change of the key's object and erases the journal, if there is one. *undone
   (may be NULL): true when something was taken back. Called under the key's lock. */
enum zb_code zb__journal_replay(const zb_node *array, const zb__write_layout *layout,
                                const char *key, bool *undone, zb_error *err);

#endif

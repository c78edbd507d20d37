/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codec/pipeline.h"
#include "codec/shard_index.h"
#include "hierarchy/markers.h"
#include "node/current.h"
#include "node/node.h"
#include "read/leaf.h"
#include "util/crc32c.h"
#include "util/scratch.h"
#include "write/journal.h"
#include "write/writer.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

/* "zbjrnl02" on the host that wrote it: a host of the other byte order cannot take it for its
   own. */
#define MAGIC 0x7a626a726e6c3032u

typedef uint32_t checksum; /* of the whole journal before it; its last bytes */

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a journal");
}

/* ---- Writing one -------------------------------------------------------------------------- */

uint64_t zb__journal_blocks(uint64_t offset, uint64_t size) {
    return size ? (offset + size - 1) / ZB__JOURNAL_BLOCK - offset / ZB__JOURNAL_BLOCK + 1 : 0;
}

/* The number of a piece's bytes from `at` to the end of the block that holds it. */
static size_t rest_of_block(const zb__journal_range *piece, uint64_t at) {
    uint64_t block = ZB__JOURNAL_BLOCK - at % ZB__JOURNAL_BLOCK;
    uint64_t left = piece->offset + piece->size - at;
    return (size_t)(block < left ? block : left);
}

static checksum *sums_of(const zb__journal *journal) {
    return (checksum *)&journal->piece[journal->count];
}

uint8_t *zb__journal_old(const zb__journal *journal) {
    return (uint8_t *)(sums_of(journal) + journal->blocks);
}

/* The size of the journal without its checksum; false when it is too large. */
static bool size_of(uint64_t count, uint64_t blocks, uint64_t old_bytes, size_t *size) {
    uint64_t pieces, sums, all = sizeof(zb__journal);
    return !__builtin_mul_overflow(count, sizeof(zb__journal_range), &pieces) &&
           !__builtin_mul_overflow(blocks, sizeof(checksum), &sums) &&
           !__builtin_add_overflow(all, pieces, &all) && !__builtin_add_overflow(all, sums, &all) &&
           !__builtin_add_overflow(all, old_bytes, &all) && all < SIZE_MAX - sizeof(checksum) &&
           (*size = (size_t)all, true);
}

zb__journal *zb__journal_new(uint64_t count, uint64_t blocks, uint64_t old_bytes) {
    size_t size;
    zb__journal *journal =
        size_of(count, blocks, old_bytes, &size) ? malloc(size + sizeof(checksum)) : NULL;
    if (journal)
        *journal = (zb__journal){.magic = MAGIC, .count = count, .old_bytes = old_bytes};
    return journal;
}

void zb__journal_note(zb__journal *journal, uint64_t number, uint64_t inner, uint64_t offset,
                      const uint8_t *data, uint64_t size) {
    zb__journal_range *piece = &journal->piece[number];
    *piece = (zb__journal_range){.inner = inner, .offset = offset, .size = size};
    for (uint64_t at = offset; at < offset + size;) {
        size_t n = rest_of_block(piece, at);
        sums_of(journal)[journal->blocks++] = zb__crc32c(data + (at - offset), n);
        memcpy(journal->tail, data + (at - offset), n);
        at += n;
    }
}

enum zb_code zb__journal_put(const zb_node *array, const char *key, zb__journal *journal,
                             enum zb_sync sync, zb_error *err) {
    size_t size;
    char *name = zb__journal_key(key);
    if (!name || !size_of(journal->count, journal->blocks, journal->old_bytes, &size)) {
        free(name);
        return no_memory(err);
    }
    checksum crc = zb__crc32c(journal, size);
    memcpy((uint8_t *)journal + size, &crc, sizeof crc);
    zb_part part = {.data = journal, .size = size + sizeof crc};
    const zb_put put = {
        .key = name, .parts = &part, .count = 1, .sync = sync, .home = zb__node_home(array)};
    enum zb_code code = zb_store_put_as(zb__node_store(array), &put, err);
    free(name);
    return code;
}

enum zb_code zb__journal_erase(const zb_node *array, const char *key, zb_error *err) {
    char *name = zb__journal_key(key);
    const zb_erase erase = {.key = name, .sync = ZB_SYNC_NONE, .home = zb__node_home(array)};
    enum zb_code code =
        name ? zb_store_erase_as(zb__node_store(array), &erase, err) : no_memory(err);
    free(name);
    return code;
}

enum zb_code zb__journal_restore(const zb__journal *journal, zb_object *live, enum zb_sync sync,
                                 zb_error *err) {
    enum zb_code code = ZB_OK;
    const uint8_t *old = zb__journal_old(journal);
    for (uint64_t i = 0; i < journal->count && code == ZB_OK; i++) {
        const zb__journal_range *piece = &journal->piece[i];
        zb_part part = {.data = old, .size = (size_t)piece->size};
        const zb_change change = {
            .offset = piece->offset, .parts = &part, .count = 1, .sync = sync};
        code = zb_object_change(live, &change, err);
        old += piece->size;
    }
    return code;
}

/* ---- Undoing ------------------------------------------------------------------------------ */

typedef struct replay {
    const zb__write_layout *layout;
    const zb__journal *journal;
    zb_object *live;
    uint64_t size;     /* of the object */
    uint64_t *entries; /* [2 * inner_chunks], room for an index */
    size_t room;       /* bytes of the longest piece */
    uint8_t *bytes;    /* room for one piece */
    uint8_t *index;    /* room for the stored index */
    zb__scratch *scratch;
    bool undone;
    bool waits; /* another object waits for a flush, to take this one's place */
} replay;

/* Reads exactly `size` bytes. False when they cannot be had. */
static bool read_exactly(zb_object *object, uint64_t offset, size_t size, void *to) {
    zb_range range = {.offset = offset, .length = size, .buffer = to};
    return zb_object_read(object, &range, 1, NULL) == ZB_OK && range.got == size;
}

/* True if the object, seen up to `end`, has an index that can be read. */
static bool has_index(const replay *r, uint64_t end) {
    zb__source source = {.object = r->live, .size = end};
    return zb__index_read(r->layout->shard, &source, r->scratch, r->entries, NULL) == ZB_OK;
}

/* The state of all pieces, whose blocks are compared from the first to the last. */
typedef struct comparison {
    const checksum *sums; /* of the next block */
    const checksum *end;
    const uint8_t *tail;
    bool unfinished; /* a block is as it was before */
    bool torn;       /* a block is neither; only old ones may follow, and one has to, */
    bool confirmed;  /* or the block itself shows where the write ended */
    bool foreign;    /* a block cannot be our own work */
} comparison;

/* True if the block is the new one up to some byte, and the old one from there on. */
static bool is_torn_tail(const uint8_t *block, const uint8_t *new, const uint8_t *old, size_t n) {
    size_t same = 0;
    while (same < n && block[same] == new[same])
        same++;
    return memcmp(block + same, old + same, n - same) == 0;
}

static void compare_block(comparison *c, const uint8_t *block, const uint8_t *old, size_t n) {
    bool is_new = zb__crc32c(block, n) == *c->sums, is_old = memcmp(block, old, n) == 0;
    bool is_last = c->sums + 1 == c->end;
    if (!is_new && !is_old) {
        c->foreign = c->foreign || c->torn;
        c->torn = true;
        c->confirmed = is_last && is_torn_tail(block, c->tail, old, n);
    } else if (!is_new) {
        c->unfinished = true;
        c->confirmed = true;
    } else if (!is_old) {
        c->foreign = c->foreign || c->torn;
    }
    c->sums++;
}

/* Compares a piece. bytes, old: the piece as it is stored now, and as it was before. */
static void compare_piece(comparison *c, const zb__journal_range *piece, const uint8_t *bytes,
                          const uint8_t *old) {
    for (uint64_t at = piece->offset; at < piece->offset + piece->size;) {
        size_t n = rest_of_block(piece, at), from = (size_t)(at - piece->offset);
        compare_block(c, bytes + from, old + from, n);
        at += n;
    }
}

static comparison begin_comparison(const zb__journal *journal) {
    const checksum *sums = sums_of(journal);
    return (comparison){.sums = sums, .end = sums + journal->blocks, .tail = journal->tail};
}

static bool is_unfinished(const comparison *c) {
    return !c->foreign && (c->torn ? c->confirmed : c->unfinished);
}

/* The part of an appended piece that the object does not reach to counts as zeros: its size had not
   come to disk. */
static bool read_appended(const replay *r, const zb__journal_range *piece) {
    uint64_t there = piece->offset < r->size ? r->size - piece->offset : 0;
    size_t n = (size_t)(there < piece->size ? there : piece->size);
    memset(r->bytes + n, 0, (size_t)piece->size - n);
    return n == 0 || read_exactly(r->live, piece->offset, n, r->bytes);
}

/* True if the append is not complete, and nothing but our own work lies behind the old end. zeros:
   as many as the longest piece has bytes. The index's place held zeros first, and then a copy of
   the old index. */
static bool is_unfinished_append(const replay *r, const uint8_t *zeros) {
    const zb__journal *journal = r->journal;
    const zb__journal_range *index = &journal->piece[journal->count - 1];
    comparison c = begin_comparison(journal);
    for (const zb__journal_range *piece = journal->piece; piece < index; piece++) {
        if (!read_appended(r, piece))
            return false;
        compare_piece(&c, piece, r->bytes, zeros);
    }
    comparison with_zeros = c, with_copy = c;
    if (!read_appended(r, index))
        return false;
    compare_piece(&with_zeros, index, r->bytes, zeros);
    compare_piece(&with_copy, index, r->bytes, r->index);
    return is_unfinished(&with_zeros) || is_unfinished(&with_copy);
}

/* Reads the old index; true if it is where it was, unchanged. */
static bool has_old_index(const replay *r) {
    size_t size = r->layout->shard->index_size;
    uint64_t old_size = r->journal->old_size;
    return old_size >= size && read_exactly(r->live, old_size - size, size, r->index) &&
           zb__crc32c(r->index, size) == r->journal->index_crc && has_index(r, old_size);
}

static enum zb_code undo_append(replay *r, zb_error *err) {
    const zb__journal *journal = r->journal;
    if (r->size <= journal->old_size || r->size > journal->new_size || journal->count == 0 ||
        journal->piece[journal->count - 1].size != r->layout->shard->index_size ||
        !has_old_index(r))
        return ZB_OK;
    uint8_t *zeros = calloc(1, r->room);
    if (!zeros)
        return no_memory(err);
    r->undone = is_unfinished_append(r, zeros);
    free(zeros);
    const zb_change cut = {.offset = journal->old_size, .is_end = true, .sync = ZB_SYNC_ALWAYS};
    return r->undone ? zb_object_change(r->live, &cut, err) : ZB_OK;
}

/* Reads the inner chunk; true if it is where the piece says. */
static bool read_in_place(const replay *r, const zb__journal_range *piece) {
    zb__inner_chunks chunks = zb__inner_chunks_of(r->entries, r->layout->inner_chunks, r->size);
    return piece->inner < chunks.count && piece->size == r->layout->inner_bound &&
           zb__inner_chunk_at(&chunks, piece->inner) && chunks.offset == piece->offset &&
           chunks.size == piece->size && zb__inner_chunk_fits(&chunks) &&
           read_exactly(r->live, piece->offset, (size_t)piece->size, r->bytes);
}

/* Looks at an inner chunk in r->bytes. */
static bool is_damaged(const replay *r, const zb__journal_range *piece) {
    size_t decoded = r->layout->inner_bytes;
    zb__sink sink = {.capacity = decoded, .exact = true, .hi = decoded};
    if (zb__buffer_reserve(&r->scratch->decoded, decoded, NULL) != ZB_OK)
        return false;
    sink.data = r->scratch->decoded.data;
    return zb__pipeline_decode(r->layout->inner->pipeline, r->scratch, r->bytes,
                               (size_t)piece->size, &sink, NULL) == ZB_ECHECKSUM;
}

static enum zb_code undo_in_place(replay *r, zb_error *err) {
    const zb__journal *journal = r->journal;
    const uint8_t *old = zb__journal_old(journal);
    comparison c = begin_comparison(journal);
    if (!has_index(r, r->size))
        return ZB_OK;
    for (uint64_t i = 0; i < journal->count; i++) {
        if (!read_in_place(r, &journal->piece[i]))
            return ZB_OK;
        compare_piece(&c, &journal->piece[i], r->bytes, old);
        old += journal->piece[i].size;
    }
    enum zb_code code = ZB_OK;
    old = zb__journal_old(journal);
    for (uint64_t i = 0; i < journal->count && code == ZB_OK && is_unfinished(&c); i++) {
        const zb__journal_range *piece = &journal->piece[i];
        zb_part part = {.data = old, .size = (size_t)piece->size};
        const zb_change change = {
            .offset = piece->offset, .parts = &part, .count = 1, .sync = ZB_SYNC_ALWAYS};
        if (read_in_place(r, piece) && is_damaged(r, piece)) {
            r->undone = true;
            code = zb_object_change(r->live, &change, err);
        }
        old += piece->size;
    }
    return code;
}

/* The size of the longest piece; 0 when the journal cannot be one that we wrote. */
static size_t check_journal(const zb__journal *journal, size_t size) {
    checksum crc;
    size_t expected, most = 0;
    uint64_t bytes = 0, blocks = 0;
    if (size < sizeof *journal + sizeof crc || journal->magic != MAGIC ||
        !size_of(journal->count, journal->blocks, journal->old_bytes, &expected) ||
        expected != size - sizeof crc)
        return 0;
    memcpy(&crc, (const uint8_t *)journal + expected, sizeof crc);
    if (zb__crc32c(journal, expected) != crc)
        return 0;
    for (uint64_t i = 0; i < journal->count; i++) {
        const zb__journal_range *piece = &journal->piece[i];
        uint64_t end;
        if (piece->size == 0 || piece->size > zb_limits_get()->shard_bytes ||
            __builtin_add_overflow(piece->offset, piece->size, &end) ||
            __builtin_add_overflow(bytes, piece->size, &bytes))
            return 0;
        blocks += zb__journal_blocks(piece->offset, piece->size);
        most = piece->size > most ? (size_t)piece->size : most;
    }
    return blocks == journal->blocks && journal->old_bytes == (journal->in_place ? bytes : 0) ? most
                                                                                              : 0;
}

static enum zb_code undo(const zb_node *array, const char *key, replay *r, size_t room,
                         zb_error *err) {
    const zb_open opening = {.key = key, .home = zb__node_home(array), .is_live = true};
    zb_object_info info;
    zb_error error;
    enum zb_code code = zb_object_open_as(zb__node_store(array), &opening, &r->live, &info, &error);
    /* The object that waits is whole, and not the one of the journal. That one is still there, and
       needs its journal until it is replaced. */
    r->waits = code == ZB_EUNSUPPORTED && error.sys_errno == EBUSY;
    if (code == ZB_ENOTFOUND || r->waits)
        return ZB_OK;
    if (code != ZB_OK) {
        if (err)
            *err = error;
        return code;
    }
    r->size = info.size;
    r->room = room;
    r->entries = malloc((size_t)r->layout->inner_chunks * 2 * sizeof *r->entries);
    r->bytes = malloc(room);
    r->index = malloc(r->layout->shard->index_size);
    r->scratch = zb__scratch_take();
    if (!r->entries || !r->bytes || !r->index || !r->scratch)
        code = no_memory(err);
    else
        code = r->journal->in_place ? undo_in_place(r, err) : undo_append(r, err);
    if (r->scratch)
        zb__scratch_put(r->scratch);
    free(r->entries);
    free(r->bytes);
    free(r->index);
    zb_object_close(r->live);
    return code;
}

enum zb_code zb__journal_replay(const zb_node *array, const zb__write_layout *layout,
                                const char *key, bool *undone, zb_error *err) {
    const zb_home home = zb__node_home(array);
    char *text = NULL, *name = zb__journal_key(key);
    size_t size;
    if (undone)
        *undone = false;
    if (!name || !layout->shard) {
        free(name);
        return layout->shard ? no_memory(err) : ZB_OK;
    }
    enum zb_code code =
        zb_store_get_in(zb__node_store(array), name, &home, 2 * zb_limits_get()->shard_bytes,
                        "shard_bytes", &text, &size, NULL, err);
    free(name);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : zb_error_prefix(err, code, "its journal");
    replay r = {.layout = layout, .journal = (const zb__journal *)(const void *)text};
    size_t room = check_journal(r.journal, size);
    if (room > 0)
        code = undo(array, key, &r, room, err);
    if (code == ZB_OK && !r.waits)
        code = zb__journal_erase(array, key, err);
    if (undone)
        *undone = r.undone;
    free(text);
    return code == ZB_OK ? ZB_OK : zb_error_prefix(err, code, "undoing by its journal");
}

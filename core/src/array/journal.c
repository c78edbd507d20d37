/* SPDX-License-Identifier: MIT */
#include "array/journal.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/crc32c.h"
#include "meta/document.h"

/* "zbjrnl01" on the host that wrote it: one of the other byte order cannot take it for its own. */
#define MAGIC 0x7a626a726e6c3031u

typedef uint32_t checksum; /* of the whole journal before it; its last bytes */

/* ---- Names ---- */

char *zb__journal_key(const char *key) {
    const char *name = zb__path_name(key);
    size_t above = (size_t)(name - key), length = strlen(name);
    char *out = malloc(above + 1 + length + sizeof ZB__JOURNAL_TAIL);
    if (!out)
        return NULL;
    memcpy(out, key, above);
    out[above] = '.';
    memcpy(out + above + 1, name, length);
    memcpy(out + above + 1 + length, ZB__JOURNAL_TAIL, sizeof ZB__JOURNAL_TAIL);
    return out;
}

bool zb__journal_is_name(const char *name) {
    size_t length = strlen(name), tail = sizeof ZB__JOURNAL_TAIL - 1;
    return name[0] == '.' && length > 1 + tail &&
           strcmp(name + length - tail, ZB__JOURNAL_TAIL) == 0;
}

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a journal");
}

/* ---- Writing one ---- */

static size_t size_of(uint64_t count) {
    return sizeof(zb__journal) + (size_t)count * sizeof(zb__journal_piece);
}

zb__journal *zb__journal_new(uint64_t count, uint64_t bytes, uint8_t **old) {
    size_t size;
    zb__journal *journal = NULL;
    if (!__builtin_add_overflow(size_of(count) + sizeof(checksum), bytes, &size))
        journal = malloc(size);
    if (journal) {
        *journal = (zb__journal){.magic = MAGIC, .count = count};
        if (old)
            *old = (uint8_t *)journal + size_of(count);
    }
    return journal;
}

enum zb_code zb__journal_put(zb_store *store, const char *key, zb__journal *journal, uint64_t bytes,
                             enum zb_durability durability, zb_error *err) {
    size_t size = size_of(journal->count) + (size_t)bytes;
    checksum crc = zb__crc32c(journal, size);
    memcpy((uint8_t *)journal + size, &crc, sizeof crc);
    zb_part part = {.data = journal, .size = size + sizeof crc};
    char *name = zb__journal_key(key);
    enum zb_code code =
        name ? zb_store_put(store, name, &part, 1, durability, err) : no_memory(err);
    free(name);
    return code;
}

enum zb_code zb__journal_erase(zb_store *store, const char *key, zb_error *err) {
    char *name = zb__journal_key(key);
    enum zb_code code = name ? zb_store_erase(store, name, err) : no_memory(err);
    free(name);
    return code;
}

enum zb_code zb__journal_restore(const zb__journal *journal, const uint8_t *old, zb_object *live,
                                 enum zb_durability durability, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (uint64_t i = 0; i < journal->count && code == ZB_OK; i++) {
        const zb__journal_piece *piece = &journal->piece[i];
        zb_part part = {.data = old, .size = (size_t)piece->size};
        code = zb_object_write_at(live, piece->offset, &part, 1, durability, err);
        old += piece->size;
    }
    return code;
}

/* ---- Undoing ---- */

typedef struct replay {
    const zb__layout *layout;
    const zb__journal *journal;
    zb_object *live;
    uint64_t size;     /* of the object */
    uint64_t *entries; /* [2 * units], room for an index */
    uint8_t *bytes;    /* room for the longest piece, or for the stored index */
    zb__scratch *scratch;
    bool undone;
} replay;

/* Reads exactly `size` bytes. False when they cannot be had. */
static bool read_exactly(zb_object *object, uint64_t offset, size_t size, void *to) {
    zb_range range = {.offset = offset, .length = size, .buffer = to};
    return zb_object_read(object, &range, 1, NULL) == ZB_OK && range.got == size;
}

static bool has_crc(const replay *r, uint64_t offset, uint64_t size, uint64_t crc) {
    return size <= r->size && offset <= r->size - size &&
           read_exactly(r->live, offset, (size_t)size, r->bytes) &&
           zb__crc32c(r->bytes, (size_t)size) == crc;
}

/* Has the object, seen up to `end`, an index that can be read? */
static bool has_index(const replay *r, uint64_t end) {
    return zb__live_index(r->layout, r->live, end, r->entries, r->scratch, NULL) == ZB_OK;
}

/* A loss of power can have kept an index and lost inner chunks before it. */
static bool is_complete(const replay *r) {
    bool complete = has_index(r, r->size);
    for (uint64_t i = 0; i < r->journal->count && complete && r->size == r->journal->new_size; i++)
        complete = has_crc(r, r->journal->piece[i].offset, r->journal->piece[i].size,
                           r->journal->piece[i].crc);
    return complete;
}

/* The old index is the end of the old object: it has to be there still, unchanged. */
static enum zb_code undo_append(replay *r, zb_error *err) {
    uint64_t old_size = r->journal->old_size;
    size_t index_size = r->layout->shard->index_size;
    if (r->size <= old_size || old_size < index_size || is_complete(r) ||
        !has_crc(r, old_size - index_size, index_size, r->journal->index_crc) ||
        !has_index(r, old_size))
        return ZB_OK;
    r->undone = true;
    return zb_object_truncate(r->live, old_size, ZB_DURABLE_NOW, err);
}

/* Is the inner chunk where the piece says, and damaged? */
static bool is_torn(const replay *r, const zb__journal_piece *piece) {
    const zb__chain *unit = r->layout->unit;
    if (piece->unit >= r->layout->units || piece->size != r->layout->unit_bound ||
        r->entries[2 * piece->unit] != piece->offset ||
        r->entries[2 * piece->unit + 1] != piece->size || piece->size > r->size ||
        piece->offset > r->size - piece->size)
        return false;
    size_t decoded = r->layout->unit_bytes;
    zb__sink sink = {.capacity = decoded, .exact = true, .hi = decoded};
    if (!read_exactly(r->live, piece->offset, (size_t)piece->size, r->bytes) ||
        zb__buffer_reserve(&r->scratch->decoded, decoded, NULL) != ZB_OK)
        return false;
    sink.data = r->scratch->decoded.data;
    return zb__chain_decode(unit, r->scratch, r->bytes, (size_t)piece->size, &sink, NULL) ==
           ZB_ECHECKSUM;
}

static enum zb_code undo_in_place(replay *r, zb_error *err) {
    const uint8_t *old = (const uint8_t *)&r->journal->piece[r->journal->count];
    enum zb_code code = ZB_OK;
    if (!has_index(r, r->size))
        return ZB_OK;
    for (uint64_t i = 0; i < r->journal->count && code == ZB_OK; i++) {
        const zb__journal_piece *piece = &r->journal->piece[i];
        zb_part part = {.data = old, .size = (size_t)piece->size};
        if (is_torn(r, piece)) {
            r->undone = true;
            code = zb_object_write_at(r->live, piece->offset, &part, 1, ZB_DURABLE_NOW, err);
        }
        old += piece->size;
    }
    return code;
}

/* The room that the pieces need at once; 0 when the journal cannot be what we wrote. */
static size_t check_journal(const zb__journal *journal, size_t size, size_t most) {
    checksum crc;
    uint64_t bytes = 0;
    if (size < sizeof *journal + sizeof crc || journal->magic != MAGIC)
        return 0;
    size -= sizeof crc;
    memcpy(&crc, (const uint8_t *)journal + size, sizeof crc);
    if (zb__crc32c(journal, size) != crc ||
        journal->count > (size - sizeof *journal) / sizeof(zb__journal_piece))
        return 0;
    for (uint64_t i = 0; i < journal->count; i++) {
        const zb__journal_piece *piece = &journal->piece[i];
        if (__builtin_add_overflow(bytes, piece->size, &bytes) || piece->size > SIZE_MAX / 2)
            return 0;
        most = piece->size > most ? (size_t)piece->size : most;
    }
    bool fits = !journal->in_place || bytes == size - size_of(journal->count);
    return fits && most <= zb_limits_get()->shard_bytes ? most : 0;
}

static enum zb_code undo(zb_store *store, const char *key, replay *r, size_t room, zb_error *err) {
    zb_object_info info;
    enum zb_code code = zb_store_open_live(store, key, &r->live, &info, err);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    r->size = info.size;
    r->entries = malloc((size_t)r->layout->units * 2 * sizeof *r->entries);
    r->bytes = malloc(room);
    r->scratch = zb__scratch_take();
    if (!r->entries || !r->bytes || !r->scratch)
        code = no_memory(err);
    else
        code = r->journal->in_place ? undo_in_place(r, err) : undo_append(r, err);
    if (r->scratch)
        zb__scratch_put(r->scratch);
    free(r->entries);
    free(r->bytes);
    zb_object_close(r->live);
    return code;
}

enum zb_code zb__journal_replay(zb_store *store, const zb__layout *layout, const char *key,
                                bool *undone, zb_error *err) {
    char *text = NULL, *name = zb__journal_key(key);
    size_t size;
    if (undone)
        *undone = false;
    if (!name || !layout->shard) {
        free(name);
        return layout->shard ? no_memory(err) : ZB_OK;
    }
    enum zb_code code = zb_store_get(store, name, 2 * zb_limits_get()->shard_bytes, "shard_bytes",
                                     &text, &size, NULL, err);
    free(name);
    if (code != ZB_OK)
        return code == ZB_ENOTFOUND ? ZB_OK : zb_error_prefix(err, code, "its journal");
    replay r = {.layout = layout, .journal = (const zb__journal *)(const void *)text};
    size_t room = check_journal(r.journal, size, layout->shard->index_size);
    if (room > 0)
        code = undo(store, key, &r, room, err);
    if (code == ZB_OK)
        code = zb__journal_erase(store, key, err);
    if (undone)
        *undone = r.undone;
    free(text);
    return code == ZB_OK ? ZB_OK : zb_error_prefix(err, code, "undoing by its journal");
}

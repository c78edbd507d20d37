/* SPDX-License-Identifier: MIT */
/* Ranged reads: leaves of one stored chunk that lie close together, and so are read with one
   request. */
#include "read/leaf.h"

#include "codec/chunk_layout.h"
#include "node/node.h"
#include "util/list.h"
#include "util/lru.h"
#include "zarrbridge/sys/store.h"

/* Where a store does not tell how much comes in a round trip, this is taken for it: what a link of
   10 MB/s brings in 50 ms. Bytes. */
#define USUAL_REACH ((uint64_t)512 << 10)
#define WIDEST_REACH ((uint64_t)1 << 20)

/* True if bytes of the object have to come for the leaf alone, or for it and others. */
static bool needs_bytes(const zb__leaf *leaf) {
    return !leaf->missing && !leaf->cached && !leaf->held;
}

/* ---- Making ------------------------------------------------------------------------------- */

static bool joins(const zb__ranged_read *t, const zb__leaf *leaf, const zb__coalesce_rule *rule) {
    if (t->size == 0 || !needs_bytes(leaf) || (leaf->layout->pipeline->is_raw && !rule->joins_raw))
        return false;
    uint64_t end = t->offset + t->size, begin = zb__leaf_begin(leaf);
    return begin <= end + rule->gap && (begin <= end || begin - end <= rule->spare) &&
           begin + zb__leaf_length(leaf) - t->offset <= rule->most;
}

/* rule->spare becomes less. */
static enum zb_code add_leaf(zb__ranged_read_list *list, zb__stored_chunk *chunk, zb__leaf *leaf,
                             zb__coalesce_rule *rule, zb_error *err) {
    if (rule->looks_up && !leaf->missing)
        zb__leaf_look_up(leaf);
    zb__ranged_read *last = list->count ? &list->items[list->count - 1] : NULL;
    if (last && last->chunk == chunk && joins(last, leaf, rule)) {
        uint64_t begin = zb__leaf_begin(leaf), end = last->offset + last->size;
        const uint64_t unwanted = begin > end ? begin - end : 0;
        last->unwanted += unwanted;
        rule->spare -= unwanted;
        if (begin + zb__leaf_length(leaf) > end)
            last->size = begin + zb__leaf_length(leaf) - last->offset;
        last->count++;
        return ZB_OK;
    }
    if (!zb__list_grow(&list->items, list->count, &list->capacity, sizeof(zb__ranged_read)))
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
    bool is_read = needs_bytes(leaf) && (!leaf->layout->pipeline->is_raw || rule->joins_raw);
    list->items[list->count++] = (zb__ranged_read){.chunk = chunk,
                                                   .first = leaf,
                                                   .count = 1,
                                                   .offset = zb__leaf_begin(leaf),
                                                   .size = is_read ? zb__leaf_length(leaf) : 0};
    return ZB_OK;
}

/* Joins a ranged read to the one before it, both of one stored chunk and in the order of their
   bytes, where the bytes between them cost less than another request that has to wait for its turn:
   no more than the gap, or than come in a round trip, and then at most three eighths of all that is
   read. Those without bytes between them were parted for their length. */
static bool reaches(zb__ranged_read *last, const zb__ranged_read *next,
                    const zb__coalesce_rule *rule) {
    uint64_t end = last->offset + last->size;
    if (last->size == 0 || next->size == 0 || next->offset <= end)
        return false;
    const uint64_t between = next->offset - end;
    uint64_t size = next->offset + next->size - last->offset;
    uint64_t unwanted = last->unwanted + between + next->unwanted;
    if (size > zb_part_most(rule->most) ||
        (between > rule->gap && (between > rule->reach || unwanted > size / 8 * 3)))
        return false;
    last->size = size;
    last->unwanted = unwanted;
    last->count += next->count;
    return true;
}

/* The ranged reads from `first` on are those of one stored chunk. */
static void reach_across(zb__ranged_read_list *list, size_t first, const zb__coalesce_rule *rule) {
    size_t kept = first;
    for (size_t i = first; i < list->count; i++) {
        if (kept == first || !reaches(&list->items[kept - 1], &list->items[i], rule))
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static size_t count_requests(const zb__ranged_read_list *list, size_t first) {
    size_t count = 0;
    for (size_t i = first; i < list->count; i++)
        count += list->items[i].size > 0;
    return count;
}

enum zb_code zb__ranged_reads_add(zb__ranged_read_list *list, zb__stored_chunk *chunk,
                                  const zb__coalesce_rule *rule, zb_error *err) {
    const size_t first = list->count;
    zb__coalesce_rule left = *rule;
    enum zb_code code = ZB_OK;
    for (zb__leaf *leaf = chunk->leaves; leaf && code == ZB_OK; leaf = leaf->next)
        code = add_leaf(list, chunk, leaf, &left, err);
    if (code == ZB_OK && rule->requests > 0 && count_requests(list, first) > rule->requests)
        reach_across(list, first, rule);
    return code;
}

uint64_t zb__store_coalesce_reach(zb_store *store) {
    uint64_t told = zb_store_bandwidth_delay(store);
    uint64_t reach = told ? told : USUAL_REACH;
    return reach < WIDEST_REACH ? reach : WIDEST_REACH;
}

/* ---- Running ------------------------------------------------------------------------------ */

enum zb_code zb__ranged_read_run_leaf(zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                                      zb_error *err) {
    enum zb_code code = zb__leaf_run(leaf, leaf->held ? leaf->held : stored, scratch, err);
    zb__lru_release(leaf->cached);
    leaf->cached = NULL;
    return code;
}

enum zb_code zb__ranged_read_run(const zb__ranged_read *ranged_read, const uint8_t *bytes,
                                 zb__scratch *scratch, zb_error *err) {
    enum zb_code code = ZB_OK;
    zb__leaf *leaf = ranged_read->first;
    for (size_t n = 0; n < ranged_read->count && code == ZB_OK; n++, leaf = leaf->next)
        code = zb__ranged_read_run_leaf(
            leaf, bytes ? bytes + (zb__leaf_begin(leaf) - ranged_read->offset) : NULL, scratch,
            err);
    return code;
}

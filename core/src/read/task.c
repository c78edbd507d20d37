/* SPDX-License-Identifier: MIT */
#include "read/task.h"

#include "base/list.h"
#include "base/lru.h"
#include "codec/form.h"
#include "node/node.h"
#include "zarrbridge/sys/store.h"

/* A key that needs more requests than this may read bytes between its leaves that nobody wants: the
   gap doubles up to WIDEST_GAP, while they are at most a quarter of all that is read. */
#define MANY_REQUESTS 64
#define WIDEST_GAP ((uint64_t)1 << 20)

/* True if bytes of the object have to come for the leaf alone, or for it and others. */
static bool needs_bytes(const zb__leaf *leaf) {
    return !leaf->missing && !leaf->cached && !leaf->held;
}

/* ---- Making ---- */

static bool joins(const zb__task *t, const zb__leaf *leaf, const zb__task_rule *rule) {
    if (t->size == 0 || !needs_bytes(leaf) || (leaf->form->chain->is_raw && !rule->joins_raw))
        return false;
    uint64_t end = t->offset + t->size, begin = zb__leaf_begin(leaf);
    return begin <= end + rule->gap && begin + zb__leaf_length(leaf) - t->offset <= rule->most;
}

static enum zb_code add_leaf(zb__task_list *list, zb__stored_chunk *key, zb__leaf *leaf,
                             const zb__task_rule *rule, zb_error *err) {
    if (rule->looks_up && !leaf->missing)
        zb__leaf_look_up(leaf);
    zb__task *last = list->count ? &list->items[list->count - 1] : NULL;
    if (last && last->key == key && joins(last, leaf, rule)) {
        uint64_t end = zb__leaf_begin(leaf) + zb__leaf_length(leaf);
        if (end > last->offset + last->size)
            last->size = end - last->offset;
        last->count++;
        return ZB_OK;
    }
    if (!zb__list_grow(&list->items, list->count, &list->capacity, sizeof(zb__task)))
        return zb_fail(err, ZB_ENOMEM, "no memory for the plan of a read");
    bool is_read = needs_bytes(leaf) && (!leaf->form->chain->is_raw || rule->joins_raw);
    list->items[list->count++] = (zb__task){.key = key,
                                            .first = leaf,
                                            .count = 1,
                                            .offset = zb__leaf_begin(leaf),
                                            .size = is_read ? zb__leaf_length(leaf) : 0};
    return ZB_OK;
}

enum zb_code zb__tasks_add(zb__task_list *list, zb__stored_chunk *key, const zb__task_rule *rule,
                           zb_error *err) {
    enum zb_code code = ZB_OK;
    for (zb__leaf *leaf = key->leaves; leaf && code == ZB_OK; leaf = leaf->next)
        code = add_leaf(list, key, leaf, rule, err);
    return code;
}

/* The requests that a gap leaves, and the bytes that nobody wants in them. */
static size_t count_requests(const zb__stored_chunk *key, uint64_t gap, uint64_t part,
                             uint64_t *wanted, uint64_t *unwanted) {
    size_t requests = 0;
    uint64_t begin = 0, end = 0;
    *wanted = *unwanted = 0;
    for (const zb__leaf *leaf = key->leaves; leaf; leaf = leaf->next) {
        if (leaf->missing)
            continue;
        uint64_t at = zb__leaf_begin(leaf), length = zb__leaf_length(leaf);
        *wanted += length;
        if (requests > 0 && at <= end + gap && at + length - begin <= part) {
            *unwanted += at > end ? at - end : 0;
        } else {
            requests++;
            begin = at;
        }
        end = at + length > end ? at + length : end;
    }
    return requests;
}

uint64_t zb__tasks_gap(const zb__stored_chunk *key, uint64_t part) {
    uint64_t gap = key->node->store->hints.gap, wanted, unwanted;
    while (gap < WIDEST_GAP && count_requests(key, gap, part, &wanted, &unwanted) > MANY_REQUESTS) {
        uint64_t wider = gap ? 2 * gap : 4096;
        count_requests(key, wider, part, &wanted, &unwanted);
        if (unwanted > wanted / 3) /* a quarter of both */
            break;
        gap = wider;
    }
    return gap;
}

/* ---- Running ---- */

enum zb_code zb__task_run_leaf(zb__leaf *leaf, const uint8_t *stored, zb__scratch *scratch,
                               zb_error *err) {
    enum zb_code code = zb__leaf_run(leaf, leaf->held ? leaf->held : stored, scratch, err);
    zb__lru_release(leaf->cached);
    leaf->cached = NULL;
    return code;
}

enum zb_code zb__task_run(const zb__task *task, const uint8_t *bytes, zb__scratch *scratch,
                          zb_error *err) {
    enum zb_code code = ZB_OK;
    zb__leaf *leaf = task->first;
    for (size_t n = 0; n < task->count && code == ZB_OK; n++, leaf = leaf->next)
        code = zb__task_run_leaf(leaf, bytes ? bytes + (zb__leaf_begin(leaf) - task->offset) : NULL,
                                 scratch, err);
    return code;
}

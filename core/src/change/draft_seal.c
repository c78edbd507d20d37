/* SPDX-License-Identifier: MIT */
#include "change/draft_seal.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "change/draft_note.h"
#include "change/draft_state.h"
#include "hierarchy/notes.h"
#include "hierarchy/turn.h"
#include "node/walk.h"
#include "store/store.h"
#include "zarrbridge/limits.h"

static size_t depth_of(const char *key) {
    size_t depth = 0;
    while ((key = strchr(key, '/')) != NULL) {
        key++;
        depth++;
    }
    return depth;
}

static int deepest_first(const void *a, const void *b) {
    const size_t one = depth_of(((const zb__name *)a)->text),
                 other = depth_of(((const zb__name *)b)->text);
    return one < other ? 1 : one > other ? -1 : 0;
}

static enum zb_code take_key(void *context, const char *key, zb_error *err) {
    return zb__names_add(context, (zb__name){.text = strdup(key)}, err);
}

static enum zb_code get_document(zb_store *store, const char *key, char **text, size_t *size,
                                 zb_error *err) {
    return zb_store_get(store, key, zb_limits_get()->consolidated_bytes, "consolidated_bytes", text,
                        size, NULL, err);
}

/* There must be none, unless an earlier try has stored it without an answer. */
static enum zb_code check_free(zb__draft *d, const char *key, zb_error *err) {
    char *text = NULL, *tried = NULL;
    size_t size = 0, tried_size = 0;
    enum zb_code code = get_document(d->inner, key, &text, &size, err);
    if (code == ZB_ENOTFOUND)
        return ZB_OK;
    if (!code || code == ZB_ELIMIT) {
        const bool is_ours = !code &&
                             get_document(d->tried, key, &tried, &tried_size, NULL) == ZB_OK &&
                             size == tried_size && memcmp(text, tried, size) == 0;
        code = is_ours ? ZB_OK : zb__draft_lose(d, err);
    }
    free(tried);
    free(text);
    return code;
}

static enum zb_code store_document(void *context, const char *key, zb_error *err) {
    zb__draft *d = context;
    zb_part part;
    char *text;
    enum zb_code code = get_document(d->held, key, &text, &part.size, err);
    if (code)
        return code;
    part.data = text;
    code = check_free(d, key, err);
    if (!code)
        code = zb_store_mem_set(d->tried, key, part.data, part.size, err);
    if (!code)
        code = zb_store_put(d->inner, key, &part, 1, ZB_SYNC_NONE, err);
    if (code == ZB_ECONFLICT)
        code = zb__draft_lose(d, err);
    if (!code)
        code = zb_store_erase(d->held, key, err);
    free(text);
    return code;
}

/* The keys are sorted; those of one depth go at once. */
static enum zb_code store_by_depth(zb__draft *d, const zb__names *keys, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < keys->count && !code;) {
        const size_t depth = depth_of(keys->name[i].text);
        zb__lane lane;
        zb__lane_begin_keys(&lane, store_document, d, zb__store_width(d->inner, 0));
        for (; i < keys->count && !code && depth_of(keys->name[i].text) == depth; i++)
            code = zb__lane_give_key(&lane, keys->name[i].text, err);
        code = zb__lane_end(&lane, code, err);
    }
    return code;
}

static enum zb_code store_documents(zb__draft *d, zb_hierarchy *hierarchy, zb_error *err) {
    zb__names keys = {.count = 0};
    zb_lock *lock = NULL;
    enum zb_code code = zb__keys_below(d->held, "", NULL, take_key, &keys, err);
    if (!code)
        code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (!code && atomic_load(&d->is_noted))
        code = zb__draft_note_check(d, err);
    if (!code)
        atomic_store(&d->state, ZB__SEALS);
    if (keys.count)
        qsort(keys.name, keys.count, sizeof *keys.name, deepest_first);
    if (!code)
        code = store_by_depth(d, &keys, err);
    code = zb__hierarchy_unlock(lock, code, err);
    zb__names_free(&keys);
    return code;
}

enum zb_code zb__draft_seal(zb_seal *seal, zb_hierarchy *hierarchy, zb_error *err) {
    zb__draft *d = zb__draft_of_seal(seal);
    zb_object_info info;
    if (zb__draft_passes(d) || zb_store_stat(d->held, "zarr.json", &info, NULL))
        return ZB_OK;
    enum zb_code code = store_documents(d, hierarchy, err);
    if (code && atomic_load(&d->is_lost)) /* the store there is another program's */
        zb__draft_note_drop(d);
    if (code)
        return code;
    atomic_store(&d->state, ZB__PASSES);
    (void)zb_store_erase_below(d->tried, "", NULL); /* which is memory */
    return atomic_load(&d->is_noted) ? zb_store_erase(d->inner, ZB__NOTE_COPY, err) : ZB_OK;
}

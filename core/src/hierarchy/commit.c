/* SPDX-License-Identifier: MIT */
#include "hierarchy/commit.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/lock_scope.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "store/store.h"
#include "util/lane.h"

static zb__staged *staged_of(zb_commit *commit) {
    return (zb__staged *)(void *)commit;
}

/* ---- Documents ---- */

static int deepest_first(const void *a, const void *b) {
    const size_t one = zb__path_depth(((const zb__name *)a)->text),
                 other = zb__path_depth(((const zb__name *)b)->text);
    return one < other ? 1 : one > other ? -1 : 0;
}

/* Recursion is as deep as nodes are nested. */
static enum zb_code add_keys(const zb__staged *s, const char *prefix, zb__names *keys,
                             zb_error *err) {
    zb__names names;
    enum zb_code code = zb__staged_names(s, prefix, &names, err);
    for (size_t i = 0; i < names.count && !code; i++) {
        char *key = zb__path_join(prefix, names.name[i].text);
        if (!names.name[i].is_prefix || !key) {
            code = zb__names_add(keys, (zb__name){.text = key}, err);
            continue;
        }
        code = add_keys(s, key, keys, err);
        free(key);
    }
    zb__names_free(&names);
    return code;
}

static enum zb_code store_document(void *context, const char *key, zb_error *err) {
    zb__staged *s = context;
    zb_part part;
    char *text;
    if (strcmp(key, ZB__MARKER_COPY) == 0) /* is there already, and goes behind the last document */
        return ZB_OK;
    enum zb_code code = zb__staged_get(s->documents, key, &text, &part.size, err);
    if (code)
        return code;
    part.data = text;
    code = zb__staged_free_check(s, key, err);
    if (!code)
        code = zb_store_mem_set(s->tried, key, part.data, part.size, err);
    if (!code)
        code = zb_store_put(s->store, key, &part, 1, ZB_SYNC_NONE, err);
    if (code == ZB_ECONFLICT)
        code = zb__staged_lose(s, err);
    if (!code)
        code = zb_store_erase(s->documents, key, err);
    if (!code && strcmp(key, "zarr.json") == 0)
        s->is_rooted = true;
    free(text);
    return code;
}

/* The keys are sorted; those of one depth go at once. Before each next depth there is a look at the
   marker. */
static enum zb_code store_by_depth(zb__staged *s, const zb__names *keys, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < keys->count && !code;) {
        const size_t depth = zb__path_depth(keys->name[i].text);
        zb__lane lane;
        code = i && atomic_load(&s->is_noted) ? zb__staged_note_check(s, err) : ZB_OK;
        zb__lane_begin_keys(&lane, store_document, s, zb__store_width(s->store, 0));
        for (; i < keys->count && !code && zb__path_depth(keys->name[i].text) == depth; i++)
            code = zb__lane_give_key(&lane, keys->name[i].text, err);
        code = zb__lane_end(&lane, code, err);
    }
    return code;
}

/* Documents without a root need the marker. The root's document alone is at its place by one put:
   it is enough that no other program has begun. */
static enum zb_code begin(zb__staged *s, const zb__names *keys, zb_error *err) {
    if (atomic_load(&s->is_noted))
        return zb__staged_note_check(s, err);
    return keys->count > 1 ? zb__staged_note_put(s, false, err) : zb__staged_others_check(s, err);
}

static enum zb_code store_all(zb__staged *s, zb_hierarchy *hierarchy, zb_error *err) {
    zb__names keys = {.count = 0};
    zb_lock *lock = NULL;
    enum zb_code code = add_keys(s, "", &keys, err);
    if (!code)
        code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (!code)
        code = begin(s, &keys, err);
    if (!code)
        atomic_store(&s->state, ZB__COMMITS);
    if (keys.count)
        qsort(keys.name, keys.count, sizeof *keys.name, deepest_first);
    if (!code)
        code = store_by_depth(s, &keys, err);
    if (!code)
        code = zb__staged_win(s, err);
    code = zb__hierarchy_unlock(lock, code, err);
    zb__names_free(&keys);
    return code;
}

static bool has_root(const zb__staged *s) {
    zb_object_info info;
    return s->is_rooted || zb_store_stat(s->documents, "zarr.json", &info, NULL) == ZB_OK;
}

static enum zb_code commit(zb_commit *commit, zb_hierarchy *hierarchy, zb_error *err) {
    zb__staged *s = staged_of(commit);
    if (!zb__staged_stages(s))
        return zb__staged_win(s, err);
    if (!has_root(s))
        return ZB_OK;
    enum zb_code code =
        atomic_load(&s->is_lost) ? zb__staged_lose(s, err) : store_all(s, hierarchy, err);
    if (atomic_load(&s->is_lost)) /* the store there is another program's */
        zb__staged_note_drop(s);
    if (!zb__staged_stages(s))
        (void)zb_store_erase_below(s->tried, "", NULL); /* which is memory */
    return code;
}

/* ---- The end ---- */

static int note_other(void *context, const zb_list_entry *entry) {
    *(bool *)context = strcmp(entry->name, ZB__MARKER_COPY) != 0;
    return *(bool *)context;
}

/* A store that was given up, and of which all has been erased, leaves no marker either. */
static void end(zb_commit *commit) {
    zb__staged *s = staged_of(commit);
    bool has_others = false;
    if (zb__staged_stages(s) && atomic_load(&s->is_noted) &&
        zb_store_list(s->store, "", note_other, &has_others, NULL) == ZB_OK && !has_others)
        zb__staged_note_drop(s);
    zb__staged_free(s);
}

void zb__staged_begin(zb_hierarchy *hierarchy, zb__staged *staged) {
    staged->commit = (zb_commit){.run = commit, .end = end};
    hierarchy->staged = staged;
    zb_hierarchy_set_commit(hierarchy, &staged->commit);
}

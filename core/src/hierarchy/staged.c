/* SPDX-License-Identifier: MIT */
/*
 * While all documents are staged, others are absent without asking: there were none in the
 * beginning, and what another program has put meanwhile is found by the commit. So is all else but
 * what lies at nodes below which something was put, unless a killed program had left something
 * there.
 */
#include "hierarchy/staged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "store/store.h"
#include "zarrbridge/limits.h"

/* ---- Keys ---- */

static bool is_document(const char *name) {
    return strcmp(name, "zarr.json") == 0 || zb__marker_is_name(name);
}

static bool is_root_note(const char *key) {
    return strcmp(key, ZB__MARKER_COPY) == 0;
}

static bool has(zb_store *store, const char *key) {
    zb_object_info info;
    return zb_store_stat(store, key, &info, NULL) == ZB_OK;
}

static enum zb__staged_state state_of(const zb__staged *s) {
    return (enum zb__staged_state)atomic_load(&s->state);
}

/* Whether a document or note of this key is in memory, or would be. */
static bool is_staged(const zb__staged *s, const char *key) {
    return is_document(zb__path_name(key)) && (state_of(s) == ZB__STAGES || has(s->documents, key));
}

/* The key of the document of the nearest node at the path or above it that is staged or touched,
   else the root's. malloc'ed; NULL without memory. */
static char *nearest_node(const zb__staged *s, const char *path) {
    size_t end = strlen(path);
    char *document = malloc(end + sizeof "/zarr.json");
    while (document) {
        sprintf(document, "%.*s%szarr.json", (int)end, path, end ? "/" : "");
        if (end == 0 || has(s->touched, document) || has(s->documents, document))
            break;
        while (end > 0 && path[end - 1] != '/')
            end--;
        end -= end > 0;
    }
    return document;
}

/* True where nothing lies in the store at the path, nor at the node that the path is in. Nodes
   below are others. */
static bool is_untouched(const zb__staged *s, const char *path) {
    if (!s->was_empty || state_of(s) != ZB__STAGES)
        return false;
    char *node = nearest_node(s, path);
    const bool is = node && !has(s->touched, node);
    free(node);
    return is;
}

static enum zb_code touch(const zb__staged *s, const char *key, zb_error *err) {
    char *node = nearest_node(s, key);
    enum zb_code code = node ? zb_store_mem_set(s->touched, node, "", 0, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for a key");
    free(node);
    return code;
}

/* ---- Questions ---- */

bool zb__staged_stages(const zb__staged *staged) {
    return state_of(staged) != ZB__COMMITTED;
}

zb_store *zb__staged_place(const zb__staged *s, const char *key) {
    const bool is_here =
        zb__staged_stages(s) && (is_root_note(key) || is_staged(s, key) || is_untouched(s, key));
    return is_here ? s->documents : s->store;
}

typedef struct taking {
    zb__names *names;
    enum zb_code code;
    zb_error *err;
} taking;

static int take_name(void *context, const zb_list_entry *entry) {
    taking *t = context;
    const zb__name name = {.text = strdup(entry->name), .is_prefix = entry->is_prefix};
    t->code = zb__names_add(t->names, name, t->err);
    return t->code;
}

enum zb_code zb__staged_names(const zb__staged *s, const char *prefix, zb__names *out,
                              zb_error *err) {
    taking t = {.names = out, .err = err};
    *out = (zb__names){.count = 0};
    enum zb_code code = zb_store_list(s->documents, prefix, take_name, &t, err);
    zb__names_sort(out);
    return code ? code : t.code;
}

typedef struct listing {
    const zb__staged *staged;
    const zb__names *names; /* that were listed already, sorted */
    bool is_root;
    zb_list_fn fn;
    void *context;
    bool is_ended;
} listing;

static int by_text(const void *key, const void *name) {
    return strcmp(key, ((const zb__name *)name)->text);
}

/* A document that is not staged is another program's. */
static int pass_name(void *context, const zb_list_entry *entry) {
    listing *l = context;
    if ((l->is_root && is_root_note(entry->name)) ||
        (state_of(l->staged) == ZB__STAGES && is_document(entry->name)) ||
        (l->names->count &&
         bsearch(entry->name, l->names->name, l->names->count, sizeof *l->names->name, by_text)))
        return 0;
    l->is_ended = l->fn(l->context, entry) != 0;
    return l->is_ended;
}

static enum zb_code list_both(const zb__staged *s, const char *prefix, zb_list_fn fn, void *context,
                              zb_error *err) {
    zb__names names;
    enum zb_code code = zb__staged_names(s, prefix, &names, err);
    listing l = {.staged = s, .names = &names, .is_root = !*prefix, .fn = fn, .context = context};
    for (size_t i = 0; i < names.count && !code && !l.is_ended; i++) {
        const zb_list_entry entry = {.name = names.name[i].text,
                                     .is_prefix = names.name[i].is_prefix};
        l.is_ended = fn(context, &entry) != 0;
    }
    if (!code && !l.is_ended && !is_untouched(s, prefix))
        code = zb_store_list(s->store, prefix, pass_name, &l, err);
    zb__names_free(&names);
    return code;
}

enum zb_code zb__hierarchy_list(zb_hierarchy *hierarchy, const zb_list *list, zb_list_fn fn,
                                void *context, zb_error *err) {
    if (!zb__is_staging(hierarchy))
        return zb_store_list_as(hierarchy->store, list, fn, context, err);
    return list->is_recursive ? ZB_EUNSUPPORTED
                              : list_both(hierarchy->staged, list->prefix, fn, context, err);
}

/* ---- The marker ---- */

enum zb_code zb__staged_lose(zb__staged *s, zb_error *err) {
    atomic_store(&s->is_lost, true);
    return zb_fail(err, ZB_ECONFLICT, "%s: another program makes a store there", s->store->label);
}

enum zb_code zb__staged_get(zb_store *store, const char *key, char **text, size_t *size,
                            zb_error *err) {
    return zb_store_get(store, key, zb_limits_get()->consolidated_bytes, "consolidated_bytes", text,
                        size, NULL, err);
}

/* Whether the text was put at this key of the store, or may have been. */
static bool was_tried(const zb__staged *s, const char *key, const char *text, size_t size) {
    char *tried = NULL;
    size_t tried_size = 0;
    const bool was = zb__staged_get(s->tried, key, &tried, &tried_size, NULL) == ZB_OK &&
                     size == tried_size && memcmp(text, tried, size) == 0;
    free(tried);
    return was;
}

enum zb_code zb__staged_free_check(zb__staged *s, const char *key, zb_error *err) {
    char *text = NULL, *found = zb__path_join(key, ZB__FOUND);
    size_t size = 0;
    if (!found)
        return zb_fail(err, ZB_ENOMEM, "no memory for a key");
    enum zb_code code = zb__staged_get(s->store, key, &text, &size, err);
    if (code == ZB_ELIMIT)
        code = zb__staged_lose(s, err);
    else if (!code && was_tried(s, key, text, size))
        code = zb_store_mem_set(s->tried, found, text, size, err);
    else if (!code && !was_tried(s, found, text, size))
        code = zb__staged_lose(s, err);
    free(found);
    free(text);
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

/* *is_there: a marker; *is_ours: this hierarchy's. */
static enum zb_code marker_look(const zb__staged *s, bool *is_there, bool *is_ours, zb_error *err) {
    return zb__marker_look(s->store, ZB__MARKER_COPY, s->token, is_there, is_ours, err);
}

/* Under the lock, after a look at it: the one that was seen goes, where the service can. */
static enum zb_code marker_erase(const zb__staged *s, zb_error *err) {
    zb_erase erase = {.key = ZB__MARKER_COPY, .expected = ZB_EXPECT_AS_READ};
    enum zb_code code = zb_store_erase_as(s->store, &erase, err);
    erase.expected = ZB_EXPECT_ANYTHING;
    return code == ZB_EUNSUPPORTED ? zb_store_erase_as(s->store, &erase, err) : code;
}

enum zb_code zb__staged_note_check(zb__staged *s, zb_error *err) {
    bool is_there, is_ours;
    enum zb_code code = marker_look(s, &is_there, &is_ours, err);
    return code || is_ours ? code : zb__staged_lose(s, err);
}

enum zb_code zb__staged_others_check(zb__staged *s, zb_error *err) {
    bool is_there, is_ours;
    enum zb_code code = marker_look(s, &is_there, &is_ours, err);
    return code || is_ours || !is_there ? code : zb__staged_lose(s, err);
}

/* Under the lock a put replaces what was read under it, and nothing else. The look at the root
   comes after the put, as the other program's look at the marker comes after its root's
   (zb__staged_win): so one of the two sees what the other one has put. */
static enum zb_code put_locked(zb__staged *s, bool takes_over, zb_error *err) {
    const zb_part token = {s->token, ZB__TOKEN_SIZE - 1};
    bool is_there, is_ours;
    enum zb_code code = marker_look(s, &is_there, &is_ours, err);
    if (!code && is_there && !is_ours && !takes_over)
        return zb__staged_lose(s, err);
    if (!code && !is_ours)
        code = zb_store_put(s->store, ZB__MARKER_COPY, &token, 1, ZB_SYNC_NONE, err);
    if (code)
        return code == ZB_ECONFLICT ? zb__staged_lose(s, err) : code;
    code = zb__staged_free_check(s, "zarr.json", err);
    if (code && atomic_load(&s->is_lost))
        (void)marker_erase(s, NULL);
    return code;
}

enum zb_code zb__staged_note_put(zb__staged *s, bool takes_over, zb_error *err) {
    zb_lock *lock;
    if (atomic_load(&s->is_lost))
        return zb__staged_lose(s, err);
    if (atomic_load(&s->is_noted))
        return ZB_OK;
    enum zb_code code = zb_store_lock(s->store, ZB__MARKER_COPY, &lock, err);
    if (code)
        return code;
    if (!atomic_load(&s->is_noted))
        code = put_locked(s, takes_over, err);
    if (!code)
        atomic_store(&s->is_noted, true);
    zb_store_unlock(lock);
    return code;
}

void zb__staged_note_drop(zb__staged *s) {
    zb_lock *lock;
    bool is_there, is_ours;
    if (zb_store_lock(s->store, ZB__MARKER_COPY, &lock, NULL))
        return;
    if (marker_look(s, &is_there, &is_ours, NULL) == ZB_OK && is_ours)
        (void)marker_erase(s, NULL);
    zb_store_unlock(lock);
}

/* With the lock. A marker that another program has put since is left to it. */
static enum zb_code win_locked(zb__staged *s, zb_error *err) {
    bool is_there, is_ours;
    enum zb_code code = marker_look(s, &is_there, &is_ours, err);
    if (!code && !is_ours && zb__staged_stages(s))
        code = zb__staged_lose(s, err);
    if (code)
        return code;
    atomic_store(&s->state, ZB__COMMITTED);
    code = is_ours ? marker_erase(s, err) : ZB_OK;
    if (code == ZB_ECONFLICT)
        code = ZB_OK;
    if (!code)
        atomic_store(&s->is_noted, false);
    return code;
}

enum zb_code zb__staged_win(zb__staged *s, zb_error *err) {
    zb_lock *lock;
    if (!atomic_load(&s->is_noted)) {
        atomic_store(&s->state, ZB__COMMITTED);
        return ZB_OK;
    }
    enum zb_code code = zb_store_lock(s->store, ZB__MARKER_COPY, &lock, err);
    if (code)
        return code;
    code = win_locked(s, err);
    zb_store_unlock(lock);
    return code;
}

/* ---- Puts ---- */

/* What lies at the node may have come before its document. */
static enum zb_code stage(const zb__staged *s, const zb_put *put, zb_error *err) {
    enum zb_code code =
        is_untouched(s, put->key) ? ZB_OK : zb_store_mem_set(s->touched, put->key, "", 0, err);
    if (!code)
        code = zb_store_put(s->documents, put->key, put->parts, put->count, ZB_SYNC_NONE, err);
    zb__store_count_change(s->store);
    return code;
}

/* Before an object that is no document comes into the store. */
static enum zb_code take_place(zb__staged *s, const char *key, zb_error *err) {
    enum zb_code code = zb__staged_note_put(s, false, err);
    return code ? code : touch(s, key, err);
}

typedef struct guarded {
    zb__staged *staged;
    const zb_put *put;
} guarded;

static enum zb_code check_put(void *context, const char *key, zb_error *err) {
    const guarded *g = context;
    enum zb_code code = zb_batch_check(g->put->batch, key, err);
    return code ? code : zb__staged_note_check(g->staged, err);
}

enum zb_code zb__hierarchy_put(zb_hierarchy *hierarchy, const zb_put *put, zb_error *err) {
    zb__staged *s = hierarchy->staged;
    if (!zb__is_staging(hierarchy))
        return zb_store_put_as(hierarchy->store, put, err);
    if (is_root_note(put->key))
        return zb__staged_note_put(s, false, err);
    if (is_staged(s, put->key))
        return stage(s, put, err);
    guarded g = {.staged = s, .put = put};
    zb_batch batch;
    zb_put checked = *put;
    enum zb_code code = take_place(s, put->key, err);
    if (code)
        return code;
    zb_batch_begin(&batch, s->store, check_put, &g);
    checked.batch = &batch;
    code = zb_store_put_as(s->store, &checked, err);
    zb_batch_end(&batch);
    return code;
}

/* Documents that are staged have to be read and put. */
enum zb_code zb__hierarchy_copy(zb_hierarchy *hierarchy, const char *key, const zb_hierarchy *from,
                                const char *from_key, zb_error *err) {
    zb__staged *s = hierarchy->staged;
    enum zb_code code = ZB_OK;
    if (zb__is_staging(hierarchy)) {
        if (is_document(zb__path_name(key)))
            return zb_fail(err, ZB_EUNSUPPORTED, "%s: documents are put", s->store->label);
        code = take_place(s, key, err);
        if (!code)
            code = zb__staged_note_check(s, err);
    }
    return code ? code
                : zb_store_copy(hierarchy->store, key, zb__place_of(from, from_key), from_key, err);
}

/* ---- Erasing ---- */

/* What another program has put there, or puts, is not to be touched. */
static enum zb_code may_erase(zb__staged *s, zb_error *err) {
    if (atomic_load(&s->is_lost))
        return zb__staged_lose(s, err);
    return atomic_load(&s->is_noted) ? zb__staged_note_check(s, err) : ZB_OK;
}

/* *is_done: the store has nothing of it. */
static enum zb_code erase_staged(zb__staged *s, const zb_erase *erase, bool *is_done,
                                 zb_error *err) {
    const zb_erase here = {.key = erase->key, .is_recursive = erase->is_recursive};
    const bool stages = state_of(s) == ZB__STAGES;
    if (here.is_recursive)
        *is_done = stages && s->was_empty && !atomic_load(&s->is_noted);
    else if (is_document(zb__path_name(here.key)))
        *is_done = stages || is_root_note(here.key);
    else if ((*is_done = is_untouched(s, here.key)))
        return zb_batch_check(erase->batch, here.key, err);
    const enum zb_code code = zb_store_erase_as(s->documents, &here, err);
    zb__store_count_change(s->store);
    return code || *is_done ? code : may_erase(s, err);
}

enum zb_code zb__hierarchy_erase_as(zb_hierarchy *hierarchy, const zb_erase *erase, zb_error *err) {
    bool is_done = false;
    enum zb_code code =
        zb__is_staging(hierarchy) ? erase_staged(hierarchy->staged, erase, &is_done, err) : ZB_OK;
    return code || is_done ? code : zb_store_erase_as(hierarchy->store, erase, err);
}

enum zb_code zb__hierarchy_erase(zb_hierarchy *hierarchy, const char *key, zb_error *err) {
    return zb__hierarchy_erase_as(hierarchy, &(zb_erase){.key = key}, err);
}

enum zb_code zb__hierarchy_erase_below(zb_hierarchy *hierarchy, const char *prefix, zb_error *err) {
    return zb__hierarchy_erase_as(hierarchy, &(zb_erase){.key = prefix, .is_recursive = true}, err);
}

/* ---- For programs ---- */

zb_store *zb_hierarchy_place(const zb_hierarchy *hierarchy, const char *key) {
    return zb__place_of(hierarchy, key);
}

bool zb_hierarchy_is_absent(const zb_hierarchy *hierarchy, const char *prefix) {
    return zb__is_absent(hierarchy, prefix);
}

/* ---- The beginning and the end ---- */

void zb__staged_free(zb__staged *staged) {
    if (!staged)
        return;
    zb_store_release(staged->documents);
    zb_store_release(staged->touched);
    zb_store_release(staged->tried);
    free(staged);
}

enum zb_code zb__staged_new(zb_store *store, bool was_empty, zb__staged **out, zb_error *err) {
    zb__staged *s = calloc(1, sizeof *s);
    if (!s)
        return zb_fail(err, ZB_ENOMEM, "no memory for staged documents");
    s->store = store;
    s->was_empty = was_empty;
    enum zb_code code = zb__token_make(s->token, err);
    if (!code)
        code = zb_store_new_mem(store->label, &s->documents, err);
    if (!code)
        code = zb_store_new_mem(store->label, &s->touched, err);
    if (!code)
        code = zb_store_new_mem(store->label, &s->tried, err);
    if (code)
        zb__staged_free(s);
    else
        *out = s;
    return code;
}

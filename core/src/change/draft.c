/* SPDX-License-Identifier: MIT */
/*
 * While documents are held, others are absent without asking: there were none in the beginning, and
 * what another program has put meanwhile is found when the store is sealed. So is all else but what
 * lies at nodes below which the draft has put something, unless a killed program had left something
 * there. From the seal on the draft passes everything on.
 */
#include "change/draft.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/token.h"
#include "change/draft_note.h"
#include "change/draft_seal.h"
#include "change/draft_state.h"
#include "change/remove.h"
#include "hierarchy/notes.h"
#include "hierarchy/turn.h"
#include "store/fetch.h"
#include "zarrbridge/sys/hierarchy.h"

static zb__draft *draft_of(zb_store *store) {
    return (zb__draft *)store;
}

static bool is_document(const char *key) {
    const char *slash = strrchr(key, '/');
    return strcmp(slash ? slash + 1 : key, "zarr.json") == 0;
}

static bool is_own_note(const zb__draft *d, const char *key) {
    return strcmp(key, ZB__NOTE_COPY) == 0 && atomic_load(&d->is_noted);
}

static bool has(zb_store *store, const char *key) {
    zb_object_info info;
    return zb_store_stat(store, key, &info, NULL) == ZB_OK;
}

/* The key of the document of the nearest node at the path or above it that is held or touched, else
   the root's. malloc'ed; NULL without memory. */
static char *nearest_node(const zb__draft *d, const char *path) {
    size_t end = strlen(path);
    char *document = malloc(end + sizeof "/zarr.json");
    while (document) {
        sprintf(document, "%.*s%szarr.json", (int)end, path, end ? "/" : "");
        if (end == 0 || has(d->touched, document) || has(d->held, document))
            break;
        while (end > 0 && path[end - 1] != '/')
            end--;
        end -= end > 0;
    }
    return document;
}

static int note_any(void *context, const zb_list_entry *entry) {
    (void)entry;
    *(bool *)context = true;
    return 1;
}

/* True where nothing of the draft lies at the path, nor at the node that the path is in. Nodes
   below are others. */
static bool is_untouched(const zb__draft *d, const char *path) {
    if (!d->was_empty || atomic_load(&d->state) != ZB__HOLDS)
        return false;
    char *node = nearest_node(d, path);
    const bool is = node && !has(d->touched, node);
    free(node);
    return is;
}

static bool is_untouched_below(const zb__draft *d, const char *prefix) {
    bool is_some = false;
    return is_untouched(d, prefix) &&
           zb_store_list(d->touched, prefix, note_any, &is_some, NULL) == ZB_OK && !is_some;
}

static enum zb_code touch(const zb__draft *d, const char *key, zb_error *err) {
    char *node = nearest_node(d, key);
    enum zb_code code = node ? zb_store_mem_set(d->touched, node, "", 0, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for a key");
    free(node);
    return code;
}

/* The store that has the object; NULL: it is absent. */
static zb_store *place_of(const zb__draft *d, const char *key) {
    if (zb__draft_passes(d))
        return d->inner;
    if (is_document(key) && has(d->held, key))
        return d->held;
    if (is_own_note(d, key))
        return atomic_load(&d->has_left) ? d->inner : NULL;
    const bool is_absent =
        is_document(key) ? atomic_load(&d->state) == ZB__HOLDS : is_untouched(d, key);
    return is_absent ? NULL : d->inner;
}

static enum zb_code absent(const zb__draft *d, const char *key, zb_error *err) {
    return zb_fail(err, ZB_ENOTFOUND, "%s: no object '%s'", d->base.label, key);
}

/* ---- Reading. Handles are those of the store that has the object. ------------------------- */

static enum zb_code draft_open(zb_store *store, const zb_open *open, zb_object **out,
                               zb_object_info *info, zb_error *err) {
    zb_store *place = place_of(draft_of(store), open->key);
    return place ? zb_object_open_as(place, open, out, info, err)
                 : absent(draft_of(store), open->key, err);
}

static int take_name(void *context, const zb_list_entry *entry) {
    zb__names *names = context;
    return zb__names_add(names, (zb__name){.text = strdup(entry->name)}, NULL) != ZB_OK;
}

typedef struct listing {
    const zb__draft *draft;
    const zb__names *held; /* sorted */
    bool is_root;
    zb_list_fn fn;
    void *context;
    bool is_ended;
} listing;

static int by_text(const void *key, const void *name) {
    return strcmp(key, ((const zb__name *)name)->text);
}

/* A document that is not held is another program's. */
static int pass_name(void *context, const zb_list_entry *entry) {
    listing *l = context;
    if ((l->is_root && is_own_note(l->draft, entry->name)) ||
        (atomic_load(&l->draft->state) == ZB__HOLDS && is_document(entry->name)) ||
        (l->held->count &&
         bsearch(entry->name, l->held->name, l->held->count, sizeof *l->held->name, by_text)))
        return 0;
    l->is_ended = l->fn(l->context, entry) != 0;
    return l->is_ended;
}

static enum zb_code list_both(zb__draft *d, const char *prefix, zb_list_fn fn, void *context,
                              zb_error *err) {
    zb__names names = {.count = 0};
    enum zb_code code = zb_store_list(d->held, prefix, take_name, &names, err);
    zb__names_sort(&names);
    listing l = {.draft = d, .held = &names, .is_root = !*prefix, .fn = fn, .context = context};
    for (size_t i = 0; i < names.count && !code && !l.is_ended; i++) {
        const char *name = names.name[i].text;
        const zb_list_entry entry = {.name = name, .is_prefix = !is_document(name)};
        l.is_ended = fn(context, &entry) != 0;
    }
    if (!code && !l.is_ended && !is_untouched(d, prefix))
        code = zb_store_list(d->inner, prefix, pass_name, &l, err);
    zb__names_free(&names);
    return code;
}

/* Documents that are held come level by level. */
static enum zb_code draft_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                               zb_error *err) {
    zb__draft *d = draft_of(store);
    if (zb__draft_passes(d))
        return zb_store_list_as(d->inner, list, fn, context, err);
    return list->is_recursive ? ZB_EUNSUPPORTED : list_both(d, list->prefix, fn, context, err);
}

/* While documents are held, questions for objects cost nothing, or little. */
static enum zb_code draft_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    const zb__draft *d = draft_of(store);
    if (probe->asks >= ZB_ASK_HOLDER)
        return probe->asks >= ZB_ASK_NOTHING && zb__draft_passes(d)
                   ? zb_store_probe(d->inner, probe, err)
                   : ZB_EUNSUPPORTED;
    zb_store *place = place_of(d, probe->name);
    return place ? zb_store_probe(place, probe, err) : absent(d, probe->name, err);
}

/* ---- Requests ----------------------------------------------------------------------------- */

static enum zb_code draft_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                                 zb_error *err) {
    zb__draft *d = draft_of(store);
    zb_fetch *here = NULL, **last_here = &here, *there = NULL, **last_there = &there;
    for (zb_fetch *fetch = list; fetch; fetch = fetch->next) {
        const bool is_there =
            fetch->object ? fetch->object->store == d->inner : place_of(d, fetch->key) == d->inner;
        zb_fetch ***last = is_there ? &last_there : &last_here;
        **last = fetch;
        *last = &fetch->next;
    }
    *last_here = *last_there = NULL;
    enum zb_code code = there ? zb_store_submit(d->inner, there, done, context, err) : ZB_OK;
    for (zb_fetch *fetch = code ? NULL : here, *next; fetch; fetch = next) {
        next = fetch->next;
        fetch->code = zb__fetch_serve(d->held, NULL, fetch); /* held, or absent */
        done(context, fetch);
    }
    return code;
}

static void draft_cancel(zb_store *store, void *context) {
    zb_store_cancel(draft_of(store)->inner, context);
}

/* ---- Writing ------------------------------------------------------------------------------ */

typedef struct guarded {
    zb__draft *draft;
    const zb_put *put;
} guarded;

static enum zb_code check_put(void *context, const char *key, zb_error *err) {
    const guarded *g = context;
    (void)key;
    enum zb_code code = zb_batch_check(g->put->batch, g->put->key, err);
    return code ? code : zb__draft_note_check(g->draft, err);
}

/* What lies at the node may have come before its document. */
static enum zb_code hold(zb__draft *d, const zb_put *put, zb_error *err) {
    atomic_store(&d->has_left, false);
    enum zb_code code =
        is_untouched(d, put->key) ? ZB_OK : zb_store_mem_set(d->touched, put->key, "", 0, err);
    return code ? code : zb_store_put(d->held, put->key, put->parts, put->count, ZB_SYNC_NONE, err);
}

/* Before an object that is no document comes into the inner store. */
static enum zb_code take_place(zb__draft *d, const char *key, zb_error *err) {
    enum zb_code code = zb__draft_note_put(d, false, err);
    return code ? code : touch(d, key, err);
}

static enum zb_code draft_put(zb_store *store, const zb_put *put, zb_error *err) {
    zb__draft *d = draft_of(store);
    if (put->expected == ZB_EXPECT_NOTHING || put->expected == ZB_EXPECT_FREE)
        return ZB_EUNSUPPORTED;
    if (zb__draft_passes(d))
        return zb_store_put_as(d->inner, put, err);
    if (is_document(put->key) && (atomic_load(&d->state) == ZB__HOLDS || has(d->held, put->key)))
        return hold(d, put, err);
    if (strcmp(put->key, ZB__NOTE_COPY) == 0)
        return zb__draft_note_put(d, false, err);
    guarded g = {.draft = d, .put = put};
    zb_batch batch;
    zb_put checked = *put;
    enum zb_code code = take_place(d, put->key, err);
    if (code)
        return code;
    zb_batch_begin(&batch, d->inner, check_put, &g);
    checked.batch = &batch;
    code = zb_store_put_as(d->inner, &checked, err);
    zb_batch_end(&batch);
    return code;
}

/* Documents are held, so that they have to be read. */
static enum zb_code draft_copy(zb_store *store, const char *key, zb_store *from,
                               const char *from_key, zb_error *err) {
    zb__draft *d = draft_of(store);
    const bool is_draft = from->ops->copy == draft_copy;
    zb_store *source = is_draft ? place_of(draft_of(from), from_key) : from;
    if (!source)
        return absent(draft_of(from), from_key, err);
    if (zb__draft_passes(d))
        return zb_store_copy(d->inner, key, source, from_key, err);
    if (is_document(key))
        return zb_fail(err, ZB_EUNSUPPORTED, "%s: documents are put", d->base.label);
    enum zb_code code = take_place(d, key, err);
    if (!code)
        code = zb__draft_note_check(d, err);
    return code ? code : zb_store_copy(d->inner, key, source, from_key, err);
}

/* What another program has put there, or puts, is not to be touched. */
static enum zb_code may_erase(zb__draft *d, zb_error *err) {
    bool is_there, is_ours;
    if (atomic_load(&d->is_lost))
        return zb_fail(err, ZB_ECONFLICT,
                       "%s: another program makes a store there; what this one has put stays",
                       d->base.label);
    enum zb_code code = zb__draft_note_look(d, &is_there, &is_ours, err);
    return code || is_there == is_ours ? code : zb__draft_lose(d, err);
}

static enum zb_code erase_object(zb__draft *d, const zb_erase *erase, zb_error *err) {
    const char *key = erase->key;
    enum zb_code code = ZB_OK;
    if (is_own_note(d, key))
        return ZB_OK;
    if (is_document(key)) {
        code = zb_store_erase(d->held, key, err);
        if (code || atomic_load(&d->state) == ZB__HOLDS)
            return code;
    }
    if (is_untouched(d, key))
        return zb_batch_check(erase->batch, erase->key, err);
    code = may_erase(d, err);
    return code ? code : zb_store_erase_as(d->inner, erase, err);
}

static enum zb_code erase_below(zb__draft *d, const char *prefix, zb_error *err) {
    const bool is_untouched = is_untouched_below(d, prefix);
    enum zb_code code = zb_store_erase_below(d->held, prefix, err);
    if (code || is_untouched)
        return code;
    code = may_erase(d, err);
    if (!code)
        code = zb_store_erase_below(d->inner, prefix, err);
    if (!code && !*prefix)
        atomic_store(&d->is_noted, false);
    return code;
}

static enum zb_code draft_erase(zb_store *store, const zb_erase *erase, zb_error *err) {
    zb__draft *d = draft_of(store);
    if (zb__draft_passes(d))
        return zb_store_erase_as(d->inner, erase, err);
    return erase->is_recursive ? erase_below(d, erase->key, err) : erase_object(d, erase, err);
}

/* While documents are held, nobody else has a node there. */
static enum zb_code draft_erase_chosen(zb_store *store, const zb_erase_chosen *erase,
                                       zb_error *err) {
    const zb__draft *d = draft_of(store);
    return zb__draft_passes(d) ? zb_store_erase_chosen(d->inner, erase, err) : ZB_EUNSUPPORTED;
}

/* Nothing waits in a store that is no tree. */
static enum zb_code draft_flush(zb_store *store, zb_batch *batch, bool discards, zb_error *err) {
    return discards ? ZB_OK : zb_store_flush_batch(draft_of(store)->inner, batch, err);
}

/* The lock is the inner store's, which ends it. */
static enum zb_code draft_lock(zb_store *store, const zb_locking *locking, zb_lock **out,
                               zb_error *err) {
    return zb_store_lock_as(draft_of(store)->inner, locking, out, err);
}

static enum zb_code draft_sweep(zb_store *store, const char *prefix, enum zb_sweep what,
                                zb_list_fn fn, void *context, zb_error *err) {
    return zb_store_sweep(draft_of(store)->inner, prefix, what, fn, context, err);
}

/* ---- The end ------------------------------------------------------------------------------ */

static int note_other(void *context, const zb_list_entry *entry) {
    *(bool *)context = strcmp(entry->name, ZB__NOTE_COPY) != 0;
    return *(bool *)context;
}

/* A store that was given up, and of which all has been erased, leaves no note either. The draft
   itself ends as a store. */
static void end(zb_seal *seal) {
    zb__draft *d = zb__draft_of_seal(seal);
    bool has_others = false;
    if (!zb__draft_passes(d) && atomic_load(&d->is_noted) &&
        zb_store_list(d->inner, "", note_other, &has_others, NULL) == ZB_OK && !has_others)
        zb__draft_note_drop(d);
}

static void release_memory(zb__draft *d) {
    zb_store_release(d->held);
    zb_store_release(d->touched);
    zb_store_release(d->tried);
}

static void draft_destroy(zb_store *store) {
    zb__draft *d = draft_of(store);
    release_memory(d);
    zb_store_release(d->inner);
    free(d);
}

/* ---- The beginning ------------------------------------------------------------------------ */

static const zb_store_ops ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "draft",
    .open = draft_open,
    .probe = draft_probe,
    .list = draft_list,
    .submit = draft_submit,
    .cancel = draft_cancel,
    .destroy = draft_destroy,
    .put = draft_put,
    .erase = draft_erase,
    .erase_chosen = draft_erase_chosen,
    .flush = draft_flush,
    .lock = draft_lock,
    .copy = draft_copy,
    .sweep = draft_sweep,
};

/* *is_new: nothing is there, or (*is_noted) what a killed program has left. One that was killed
   when it had put the root's document has left a note in a store that is complete. */
static enum zb_code look(zb_store *store, bool *is_new, bool *is_noted, zb_error *err) {
    bool is_some = false;
    zb_object_info info;
    *is_noted = false;
    enum zb_code code = zb_store_list(store, "", note_any, &is_some, err);
    if (!code && is_some) {
        code = zb_store_stat(store, ZB__NOTE_COPY, &info, err);
        *is_noted = code == ZB_OK;
        code = code == ZB_ENOTFOUND ? ZB_OK : code;
    }
    *is_new = !is_some || *is_noted;
    if (code || !*is_noted)
        return code;
    code = zb_store_stat(store, "zarr.json", &info, err);
    *is_new = code == ZB_ENOTFOUND;
    return *is_new ? ZB_OK : code;
}

/* The note first: should that program live, it puts nothing more. */
static enum zb_code take_over(zb__draft *d, zb_error *err) {
    zb_lock *lock;
    zb_hierarchy *there = NULL;
    enum zb_code code = zb__draft_note_put(d, true, err);
    if (!code)
        code = zb_hierarchy_over(zb_store_retain(d->inner), &there, err);
    if (!code)
        code = zb__hierarchy_lock(there, &lock, err);
    if (!code) {
        code = zb__left_overs_erase(there, "", err);
        atomic_store(&d->has_left, true);
        code = zb__hierarchy_unlock(lock, code, err);
    }
    zb_hierarchy_release(there);
    return code;
}

static enum zb_code draft_new(zb_store *inner, zb__draft **out, zb_error *err) {
    zb__draft *d = calloc(1, sizeof *d);
    if (!d)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    enum zb_code code = zb__token_make(d->token, err);
    if (!code)
        code = zb_store_new_mem(inner->label, &d->held, err);
    if (!code)
        code = zb_store_new_mem(inner->label, &d->touched, err);
    if (!code)
        code = zb_store_new_mem(inner->label, &d->tried, err);
    if (!code)
        code = zb_store_init(&d->base, &ops, inner->hints, inner->label, err);
    if (code) {
        release_memory(d);
        free(d);
        return code;
    }
    d->inner = zb_store_retain(inner);
    d->seal = (zb_seal){.run = zb__draft_seal, .end = end};
    *out = d;
    return ZB_OK;
}

/* *out: NULL where there is a store already. */
static enum zb_code draft_around(zb_store *store, zb__draft **out, zb_error *err) {
    bool is_new, is_noted;
    *out = NULL;
    enum zb_code code = look(store, &is_new, &is_noted, err);
    if (code || !is_new)
        return code;
    code = draft_new(store, out, err);
    if (!code && is_noted)
        code = take_over(*out, err);
    else if (!code)
        (*out)->was_empty = true;
    if (code && *out)
        zb_store_release(&(*out)->base);
    return code;
}

enum zb_code zb__draft_begin(zb_store *store, zb_hierarchy **out, zb_error *err) {
    zb__draft *d;
    enum zb_code code = draft_around(store, &d, err);
    if (code || d)
        zb_store_release(store); /* the draft has its own reference */
    if (!code)
        code = zb_hierarchy_over(d ? &d->base : store, out, err);
    if (!code && d)
        zb_hierarchy_set_seal(*out, &d->seal);
    return code;
}

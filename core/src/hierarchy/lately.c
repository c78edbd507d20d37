/* SPDX-License-Identifier: MIT */
#include "hierarchy/lately.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/map.h"
#include "hierarchy/hierarchy.h"
#include "model/block.h"
#include "hierarchy/notes.h"
#include "hierarchy/path.h"

/* Bytes of a store's documents and names: some ten thousand nodes. */
#define MOST_BYTES ((size_t)16 << 20)

#define DEPTHS 16 /* of groups that are counted: deeper ones together */

/* An answer counts from its time on, as long as the store has seen so many changes. */
typedef struct age {
    int64_t time; /* 0: there is no answer */
    uint64_t changes;
    bool is_ahead;
} age;

typedef struct told {
    zb__map_link link; /* by its path */
    char *path;
    age document, listing;
    char *text; /* NULL: there is none */
    size_t size;
    int format;
    zb_object_info info;
    bool is_group, has_block;
    zb__names names;
    bool is_whole; /* there are no other names */
    size_t own_bytes, text_bytes, names_bytes;
} told;

struct zb__lately {
    zb__map nodes;
    size_t bytes;
    size_t listed[DEPTHS]; /* groups that a program has listed, by their depth */
    int64_t listed_last[DEPTHS];
};

/* Guards what all stores have told. No other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

/* Not of archives, whose directory is at hand, and may be read anew at any time. */
bool zb__lately_pays(const zb_hierarchy *hierarchy) {
    return !hierarchy->store->hints.is_local && hierarchy->store->hints.fresh > 0 &&
           zb_store_can_submit(hierarchy->store);
}

static told *after(const zb__lately *l, const told *t) {
    return (told *)(void *)zb__map_after(&l->nodes, t ? &t->link : NULL);
}

static void free_told(told *t) {
    zb__names_free(&t->names);
    free(t->text);
    free(t->path);
    free(t);
}

void zb__lately_free(zb__lately *l) {
    for (told *t = l ? after(l, NULL) : NULL, *next; t; t = next) {
        next = after(l, t);
        free_told(t);
    }
    if (l)
        zb__map_free(&l->nodes);
    free(l);
}

/* With the lock; NULL when memory runs out. */
static zb__lately *lately_of(zb_hierarchy *hierarchy) {
    if (!hierarchy->lately)
        hierarchy->lately = calloc(1, sizeof *hierarchy->lately);
    return hierarchy->lately;
}

/* Locks, if there is something to look at. */
static zb__lately *enter(zb_hierarchy *hierarchy, bool makes) {
    if (!zb__lately_pays(hierarchy))
        return NULL;
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    zb__lately *l = makes ? lately_of(hierarchy) : hierarchy->lately;
    if (!l)
        pthread_mutex_unlock(&lock);
    return l;
}

static void leave(void) {
    pthread_mutex_unlock(&lock);
}

static bool is_fresh(zb_hierarchy *hierarchy, const age *a) {
    return a->time && zb__now() - a->time < hierarchy->store->hints.fresh &&
           a->changes == zb_store_changes(hierarchy->store);
}

static told *find(const zb__lately *l, const char *path) {
    zb__map_link *link = zb__map_first(&l->nodes, zb__hash(path, strlen(path)));
    while (link && strcmp(((told *)(void *)link)->path, path) != 0)
        link = zb__map_next(link);
    return (told *)(void *)link;
}

void zb__lately_forget(zb_hierarchy *hierarchy) {
    zb__lately *l = enter(hierarchy, false);
    if (!l)
        return;
    hierarchy->lately = NULL;
    leave();
    zb__lately_free(l);
}

/* ---- Room --------------------------------------------------------------------------------- */

static void drop_old(zb_hierarchy *hierarchy, zb__lately *l) {
    for (told *t = after(l, NULL), *next; t; t = next) {
        next = after(l, t);
        if (is_fresh(hierarchy, &t->document) || is_fresh(hierarchy, &t->listing))
            continue;
        l->bytes -= t->own_bytes + t->text_bytes + t->names_bytes;
        zb__map_remove(&l->nodes, &t->link);
        free_told(t);
    }
}

/* What is told of the node at path, with room for `more` bytes; NULL when there is none. */
static told *make_room(zb_hierarchy *hierarchy, zb__lately *l, const char *path, size_t more) {
    const size_t own = sizeof(told) + strlen(path) + 1;
    if (own + more > ZB__LATELY_MOST)
        return NULL;
    if (l->bytes + own + more > MOST_BYTES)
        drop_old(hierarchy, l);
    if (l->bytes + own + more > MOST_BYTES)
        return NULL;
    told *t = find(l, path);
    if (!t) {
        t = zb__map_reserve(&l->nodes) ? calloc(1, sizeof *t) : NULL;
        if (!t || !(t->path = strdup(path))) {
            free(t);
            return NULL;
        }
        zb__map_add(&l->nodes, &t->link, zb__hash(path, strlen(path)));
        t->own_bytes = own;
        l->bytes += own;
    }
    return t;
}

/* part: of t, what the new answer takes the place of. */
static void charge(zb__lately *l, size_t *part, size_t bytes) {
    l->bytes += bytes - *part;
    *part = bytes;
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* It may have NULs, and has one more at its end. NULL when memory runs out. */
static char *copy_text(const char *text, size_t size) {
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

/* By its words alone: who looks for a group here asks for its names, and no more. */
static bool tells_group(const char *text) {
    const char *type = text ? strstr(text, "\"node_type\"") : NULL;
    type = type ? strchr(type, ':') : NULL;
    type = type ? strchr(type, '"') : NULL;
    return type && strncmp(type, "\"group\"", 7) == 0;
}

static bool tells_block(const char *text) {
    static const char word[] = "\"" ZB__CONSOLIDATED "\"";
    const char *block = strstr(text, word);
    if (block)
        block += sizeof word - 1;
    return block && strncmp(block + strspn(block, " \t\r\n:"), "null", 4) != 0;
}

void zb__lately_keep(zb_hierarchy *hierarchy, const zb__early_document *document, uint64_t changes,
                     bool is_ahead) {
    if (!zb__lately_pays(hierarchy) || (document->code && document->code != ZB_ENOTFOUND))
        return;
    char *text = document->code ? NULL : copy_text(document->text, document->size);
    zb__lately *l = document->code || text ? enter(hierarchy, true) : NULL;
    told *t = l ? make_room(hierarchy, l, document->path, document->size + 1) : NULL;
    if (t) {
        char *old = t->text;
        charge(l, &t->text_bytes, document->size + 1);
        t->text = text;
        t->size = document->size;
        t->format = document->format;
        t->info = document->info;
        t->is_group = tells_group(text);
        t->has_block = text && tells_block(text);
        t->document = (age){.time = zb__now(), .changes = changes, .is_ahead = is_ahead};
        text = old;
    } else if (l && (t = find(l, document->path))) {
        t->document.time = 0;
    }
    if (l)
        leave();
    free(text);
}

static bool get(zb_hierarchy *hierarchy, const char *path, bool takes,
                zb__early_document *document) {
    bool found = false;
    zb__lately *l = enter(hierarchy, false);
    told *t = l ? find(l, path) : NULL;
    if (t && is_fresh(hierarchy, &t->document) &&
        (takes ? t->document.is_ahead : t->text && !t->has_block)) {
        document->text = t->text ? copy_text(t->text, t->size) : NULL;
        found = document->text || !t->text;
        document->size = t->size;
        document->format = t->format;
        document->info = t->info;
        document->code = t->text ? ZB_OK : ZB_ENOTFOUND;
        t->document.is_ahead = false;
    }
    if (l)
        leave();
    if (found && document->code)
        zb_fail(&document->error, ZB_ENOTFOUND, "there is no zarr.json");
    return found;
}

bool zb__lately_take(zb_hierarchy *hierarchy, const char *path, zb__early_document *document) {
    return get(hierarchy, path, true, document);
}

bool zb__lately_find(zb_hierarchy *hierarchy, const char *path, zb__early_document *document) {
    return get(hierarchy, path, false, document);
}

/* ---- Names -------------------------------------------------------------------------------- */

static bool copy_names(const zb__names *names, zb__names *out, size_t *bytes) {
    *out = (zb__names){.count = 0};
    *bytes = names->count * sizeof *names->name;
    for (size_t i = 0; i < names->count; i++) {
        zb__name name = names->name[i];
        *bytes += strlen(name.text) + 1;
        name.text = strdup(name.text);
        if (zb__names_add(out, name, NULL)) {
            zb__names_free(out);
            return false;
        }
    }
    return true;
}

void zb__lately_keep_names(zb_hierarchy *hierarchy, const char *path, const zb__names *names,
                           bool is_whole, uint64_t changes, bool is_ahead) {
    zb__names copy;
    size_t bytes;
    if (!zb__lately_pays(hierarchy) || !copy_names(names, &copy, &bytes))
        return;
    zb__lately *l = enter(hierarchy, true);
    told *t = l ? make_room(hierarchy, l, path, bytes) : NULL;
    if (t) {
        const zb__names old = t->names;
        charge(l, &t->names_bytes, bytes);
        t->names = copy;
        t->is_whole = is_whole;
        t->listing = (age){.time = zb__now(), .changes = changes, .is_ahead = is_ahead};
        copy = old;
    } else if (l && (t = find(l, path))) {
        t->listing.time = 0;
    }
    if (l)
        leave();
    zb__names_free(&copy);
}

static bool has_ahead(zb_hierarchy *hierarchy, const told *t) {
    return t && is_fresh(hierarchy, &t->listing) && t->is_whole && t->listing.is_ahead;
}

bool zb__lately_has_names(zb_hierarchy *hierarchy, const char *path) {
    zb__lately *l = enter(hierarchy, false);
    const bool has = l && has_ahead(hierarchy, find(l, path));
    if (l)
        leave();
    return has;
}

bool zb__lately_take_names(zb_hierarchy *hierarchy, const char *path, zb__names *out) {
    size_t bytes;
    zb__lately *l = enter(hierarchy, false);
    told *t = l ? find(l, path) : NULL;
    const bool found = has_ahead(hierarchy, t) && copy_names(&t->names, out, &bytes);
    if (found)
        t->listing.is_ahead = false;
    if (l)
        leave();
    return found;
}

static int compare_name(const void *name, const void *listed) {
    return strcmp(name, ((const zb__name *)listed)->text);
}

bool zb__lately_lacks(zb_hierarchy *hierarchy, const char *path, bool *knows) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *group = strndup(path, slash ? (size_t)(slash - path) : 0);
    bool lacks = false;
    *knows = false;
    zb__lately *l = group && *path ? enter(hierarchy, false) : NULL;
    told *t = l ? find(l, group) : NULL;
    if (t && is_fresh(hierarchy, &t->listing) && !zb__name_is_ours(name)) {
        *knows = true;
        lacks = t->is_whole && t->names.count &&
                !bsearch(name, t->names.name, t->names.count, sizeof *t->names.name, compare_name);
    }
    if (l)
        leave();
    free(group);
    return lacks;
}

/* ---- Walks -------------------------------------------------------------------------------- */

static size_t depth_of(const char *path) {
    size_t depth = *path != '\0';
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

enum zb_code zb__lately_groups(zb_hierarchy *hierarchy, const char *path, size_t most,
                               zb__names *out, zb_error *err) {
    const size_t depth = depth_of(path);
    zb__lately *l = enter(hierarchy, false);
    enum zb_code code;
    *out = (zb__names){.count = 0};
    code = zb__names_add(out, (zb__name){.text = strdup(path)}, err);
    for (const told *t = l ? after(l, NULL) : NULL; t && !code; t = after(l, t)) {
        if (t->is_group && is_fresh(hierarchy, &t->document) && !is_fresh(hierarchy, &t->listing) &&
            depth_of(t->path) == depth && strcmp(t->path, path) > 0)
            code = zb__names_add(out, (zb__name){.text = strdup(t->path)}, err);
    }
    if (l)
        leave();
    zb__names_sort(out);
    while (out->count > 1 + most)
        free(out->name[--out->count].text);
    return code;
}

size_t zb__lately_count(zb_hierarchy *hierarchy, const char *path) {
    const size_t depth = depth_of(path), at = depth < DEPTHS ? depth : DEPTHS - 1;
    size_t count = 0;
    zb__lately *l = enter(hierarchy, true);
    if (l) {
        const int64_t now = zb__now();
        if (now - l->listed_last[at] >= hierarchy->store->hints.fresh)
            l->listed[at] = 0;
        l->listed_last[at] = now;
        count = ++l->listed[at];
        leave();
    }
    return count;
}

/* SPDX-License-Identifier: MIT */
#include "hierarchy/metadata.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "array/block.h"
#include "hierarchy/age.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "hierarchy/version.h"
#include "util/fork.h"

/* Bytes of a store's documents and names: some ten thousand nodes. */
#define MOST_BYTES ((size_t)16 << 20)

/* What is known of the node at a path. */
typedef struct entry {
    zb__map_link link;
    char *path;
    zb__age document_age, names_age;
    bool document_is_prefetched, names_are_prefetched; /* nobody has asked for them yet */
    char *text;                                        /* of the document; NULL: there is none */
    size_t size;
    int format;
    zb_object_info info;
    bool is_group, has_block;
    zb__names names;
    bool is_whole;  /* there are no other names */
    uint64_t plain; /* the version of its document that was a plain group's; 0: none */
    size_t own_bytes, text_bytes, names_bytes;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

void zb__metadata_lock(void) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
}

void zb__metadata_unlock(void) {
    pthread_mutex_unlock(&lock);
}

/* ---- Entries ------------------------------------------------------------------------------ */

static entry *after(const zb__map *nodes, const entry *e) {
    return (entry *)(void *)zb__map_after(nodes, e ? &e->link : NULL);
}

static void free_entry(entry *e) {
    zb__names_free(&e->names);
    free(e->text);
    free(e->path);
    free(e);
}

static entry *find(const zb_hierarchy *hierarchy, const char *path) {
    const zb__map *nodes = &hierarchy->metadata.nodes;
    zb__map_link *link = zb__map_first(nodes, zb__hash(path, strlen(path)));
    while (link && strcmp(((entry *)(void *)link)->path, path) != 0)
        link = zb__map_next(link);
    return (entry *)(void *)link;
}

static bool is_fresh(const zb_hierarchy *hierarchy, const zb__age *age) {
    return zb__age_is_fresh(age, hierarchy->store);
}

void zb__metadata_clear(zb_hierarchy *hierarchy) {
    zb__metadata_lock();
    zb__map nodes = hierarchy->metadata.nodes;
    hierarchy->metadata = (zb__metadata){.cached_block = hierarchy->metadata.cached_block};
    zb__metadata_unlock();
    for (entry *e = after(&nodes, NULL), *next; e; e = next) {
        next = after(&nodes, e);
        free_entry(e);
    }
    zb__map_free(&nodes);
}

static void drop_old(zb_hierarchy *hierarchy) {
    zb__metadata *m = &hierarchy->metadata;
    for (entry *e = after(&m->nodes, NULL), *next; e; e = next) {
        next = after(&m->nodes, e);
        if (is_fresh(hierarchy, &e->document_age) || is_fresh(hierarchy, &e->names_age))
            continue;
        m->bytes -= e->own_bytes + e->text_bytes + e->names_bytes;
        zb__map_remove(&m->nodes, &e->link);
        free_entry(e);
    }
}

/* The entry of the path, with capacity for `more` bytes; NULL when there is none. */
static entry *make_entry(zb_hierarchy *hierarchy, const char *path, size_t more) {
    zb__metadata *m = &hierarchy->metadata;
    const size_t own = sizeof(entry) + strlen(path) + 1;
    if (own + more > ZB__METADATA_MOST)
        return NULL;
    if (m->bytes + own + more > MOST_BYTES)
        drop_old(hierarchy);
    if (m->bytes + own + more > MOST_BYTES)
        return NULL;
    entry *e = find(hierarchy, path);
    if (!e) {
        e = zb__map_reserve(&m->nodes) ? calloc(1, sizeof *e) : NULL;
        if (!e || !(e->path = strdup(path))) {
            free(e);
            return NULL;
        }
        zb__map_add(&m->nodes, &e->link, zb__hash(path, strlen(path)));
        e->own_bytes = own;
        m->bytes += own;
    }
    return e;
}

/* part: of an entry, what the new answer takes the place of. */
static void charge(zb_hierarchy *hierarchy, size_t *part, size_t bytes) {
    hierarchy->metadata.bytes += bytes - *part;
    *part = bytes;
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* Not of archives, whose directory is at hand, and may be read anew at any time. */
bool zb__metadata_pays(const zb_hierarchy *hierarchy) {
    return !hierarchy->store->hints.is_local && hierarchy->store->hints.fresh > 0 &&
           zb_store_can_submit(hierarchy->store);
}

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

void zb__metadata_keep(zb_hierarchy *hierarchy, const zb__prefetched_document *document,
                       uint64_t changes, bool is_prefetched) {
    if (!zb__metadata_pays(hierarchy) || (document->code && document->code != ZB_ENOTFOUND))
        return;
    char *text = document->code ? NULL : copy_text(document->text, document->size);
    if (!document->code && !text)
        return;
    zb__metadata_lock();
    entry *e = make_entry(hierarchy, document->path, document->size + 1);
    if (e) {
        char *old = e->text;
        charge(hierarchy, &e->text_bytes, document->size + 1);
        e->text = text;
        e->size = document->size;
        e->format = document->format;
        e->info = document->info;
        e->is_group = tells_group(text);
        e->has_block = text && tells_block(text);
        e->document_age = zb__age_now(changes);
        e->document_is_prefetched = is_prefetched;
        text = old;
    } else if ((e = find(hierarchy, document->path))) {
        e->document_age.time = 0;
    }
    zb__metadata_unlock();
    free(text);
}

static bool get(zb_hierarchy *hierarchy, const char *path, bool takes,
                zb__prefetched_document *document) {
    bool found = false;
    if (!zb__metadata_pays(hierarchy))
        return false;
    zb__metadata_lock();
    entry *e = find(hierarchy, path);
    if (e && is_fresh(hierarchy, &e->document_age) &&
        (takes ? e->document_is_prefetched : e->text && !e->has_block)) {
        document->text = e->text ? copy_text(e->text, e->size) : NULL;
        found = document->text || !e->text;
        document->size = e->size;
        document->format = e->format;
        document->info = e->info;
        document->code = e->text ? ZB_OK : ZB_ENOTFOUND;
        e->document_is_prefetched = false;
    }
    zb__metadata_unlock();
    if (found && document->code)
        zb_fail(&document->error, ZB_ENOTFOUND, "there is no zarr.json");
    return found;
}

bool zb__metadata_take(zb_hierarchy *hierarchy, const char *path,
                       zb__prefetched_document *document) {
    return get(hierarchy, path, true, document);
}

bool zb__metadata_find(zb_hierarchy *hierarchy, const char *path,
                       zb__prefetched_document *document) {
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

void zb__metadata_keep_names(zb_hierarchy *hierarchy, const char *path, const zb__names *names,
                             bool is_whole, uint64_t changes, bool is_prefetched) {
    zb__names copy;
    size_t bytes;
    if (!zb__metadata_pays(hierarchy) || !copy_names(names, &copy, &bytes))
        return;
    zb__metadata_lock();
    entry *e = make_entry(hierarchy, path, bytes);
    if (e) {
        const zb__names old = e->names;
        charge(hierarchy, &e->names_bytes, bytes);
        e->names = copy;
        e->is_whole = is_whole;
        e->names_age = zb__age_now(changes);
        e->names_are_prefetched = is_prefetched;
        copy = old;
    } else if ((e = find(hierarchy, path))) {
        e->names_age.time = 0;
    }
    zb__metadata_unlock();
    zb__names_free(&copy);
}

static bool has_prefetched(const zb_hierarchy *hierarchy, const entry *e) {
    return e && is_fresh(hierarchy, &e->names_age) && e->is_whole && e->names_are_prefetched;
}

bool zb__metadata_has_names(zb_hierarchy *hierarchy, const char *path) {
    zb__metadata_lock();
    const bool has = has_prefetched(hierarchy, find(hierarchy, path));
    zb__metadata_unlock();
    return has;
}

bool zb__metadata_take_names(zb_hierarchy *hierarchy, const char *path, zb__names *out) {
    size_t bytes;
    zb__metadata_lock();
    entry *e = find(hierarchy, path);
    const bool found = has_prefetched(hierarchy, e) && copy_names(&e->names, out, &bytes);
    if (found)
        e->names_are_prefetched = false;
    zb__metadata_unlock();
    return found;
}

static int compare_name(const void *name, const void *listed) {
    return strcmp(name, ((const zb__name *)listed)->text);
}

bool zb__metadata_confirms_absent(zb_hierarchy *hierarchy, const char *path, bool *knows) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *group = strndup(path, slash ? (size_t)(slash - path) : 0);
    bool lacks = false;
    *knows = false;
    if (!group || !*path) {
        free(group);
        return false;
    }
    zb__metadata_lock();
    const entry *e = find(hierarchy, group);
    if (e && is_fresh(hierarchy, &e->names_age) && !zb__name_is_ours(name)) {
        *knows = true;
        lacks = e->is_whole && e->names.count &&
                !bsearch(name, e->names.name, e->names.count, sizeof *e->names.name, compare_name);
    }
    zb__metadata_unlock();
    free(group);
    return lacks;
}

/* ---- Walks -------------------------------------------------------------------------------- */

enum zb_code zb__metadata_groups(zb_hierarchy *hierarchy, const char *path, size_t most,
                                 zb__names *out, zb_error *err) {
    const zb__map *nodes = &hierarchy->metadata.nodes;
    const size_t depth = zb__path_depth(path);
    *out = (zb__names){.count = 0};
    enum zb_code code = zb__names_add(out, (zb__name){.text = strdup(path)}, err);
    zb__metadata_lock();
    for (const entry *e = after(nodes, NULL); e && !code; e = after(nodes, e)) {
        if (e->is_group && is_fresh(hierarchy, &e->document_age) &&
            !is_fresh(hierarchy, &e->names_age) && zb__path_depth(e->path) == depth &&
            strcmp(e->path, path) > 0)
            code = zb__names_add(out, (zb__name){.text = strdup(e->path)}, err);
    }
    zb__metadata_unlock();
    zb__names_sort(out);
    while (out->count > 1 + most)
        free(out->name[--out->count].text);
    return code;
}

size_t zb__metadata_count(zb_hierarchy *hierarchy, const char *path) {
    enum { LAST = ZB__METADATA_DEPTHS - 1 };
    const size_t depth = zb__path_depth(path), at = depth < LAST ? depth : LAST;
    zb__metadata *m = &hierarchy->metadata;
    const int64_t now = zb__now();
    zb__metadata_lock();
    if (now - m->listed_last[at] >= hierarchy->store->hints.fresh)
        m->listed[at] = 0;
    m->listed_last[at] = now;
    const size_t count = ++m->listed[at];
    zb__metadata_unlock();
    return count;
}

/* ---- Plain groups --------------------------------------------------------------------------- */

enum zb_code zb__metadata_version(zb_hierarchy *hierarchy, const char *path, uint64_t *version,
                                  zb_error *err) {
    *version = 0;
    if (!hierarchy->store->hints.is_watched)
        return ZB_OK;
    char *key = zb__path_join(path, "zarr.json");
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = key};
    enum zb_code code = key ? zb_store_probe(zb__place_of(hierarchy, key), &probe, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    *version = zb__version_word(&probe.info.validator);
    return ZB_OK;
}

bool zb__metadata_is_plain(zb_hierarchy *hierarchy, const char *path, uint64_t version) {
    zb__metadata_lock();
    const entry *e = version ? find(hierarchy, path) : NULL;
    const bool is = e && e->plain == version;
    zb__metadata_unlock();
    return is;
}

void zb__metadata_keep_plain(zb_hierarchy *hierarchy, const char *path, uint64_t version) {
    if (!version)
        return;
    zb__metadata_lock();
    entry *e = make_entry(hierarchy, path, 0);
    if (e)
        e->plain = version;
    zb__metadata_unlock();
}

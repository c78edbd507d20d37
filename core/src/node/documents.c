/* SPDX-License-Identifier: MIT */
#include "node/documents.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/consolidated_cache.h"
#include "hierarchy/metadata.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/document.h"
#include "store/fetch.h"
#include "zarrbridge/limits.h"

/* As many documents as are worth reading together: bounds the memory that they take. */
#define AHEAD 64

bool zb__documents_pay(const zb_hierarchy *hierarchy) {
    return !hierarchy->store->hints.is_local && zb_store_can_submit(hierarchy->store);
}

/* Takes over the bytes of an answer; texts end with a NUL. */
static void take(zb__prefetched_document *document, zb_fetch *fetch, const char *limit_name) {
    document->is_answer = true;
    document->code = fetch->code;
    document->error = fetch->error;
    document->info = fetch->info;
    document->size = fetch->range.got;
    document->format = 3;
    if (!fetch->code)
        document->text = realloc(fetch->range.buffer, fetch->range.got + 1);
    if (document->text) {
        document->text[document->size] = '\0';
        return;
    }
    free(fetch->range.buffer);
    if (!document->code)
        document->code = zb_fail(&document->error, ZB_ENOMEM, "no memory for a document");
    else if (document->code == ZB_ELIMIT)
        zb_error_prefix(&document->error, ZB_ELIMIT, "limit %s", limit_name);
}

/* Whether no request tells of the document, as it is in memory, or surely nowhere. */
static bool take_staged(zb_hierarchy *hierarchy, const char *key,
                        zb__prefetched_document *document) {
    const char *limit_name;
    const uint64_t limit = zb__document_limit(&limit_name);
    zb_store *place = zb__place_of(hierarchy, key);
    if (place == hierarchy->store)
        return false;
    document->format = 3;
    document->code = zb_store_get(place, key, limit, limit_name, &document->text, &document->size,
                                  &document->info, &document->error);
    return true;
}

/* The path of each document, and its text where that is served. Returns the number of the others,
   whose requests it makes. */
static size_t prepare(zb_hierarchy *hierarchy, zb__prefetched_document *documents, size_t count,
                      bool is_own, zb_fetch *fetches, uint64_t limit) {
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        zb__prefetched_document *document = &documents[i];
        char *key = document->path ? zb__path_join(document->path, "zarr.json") : NULL;
        document->code = ZB_OK;
        document->text = key && !is_own ? zb__cached_block_text(hierarchy, document->path,
                                                                &document->size, &document->format)
                                        : NULL;
        document->is_cached_block = document->text;
        if (!key)
            document->code = zb_fail(&document->error, ZB_ENOMEM, "no memory for a key");
        if (!key || document->text || take_staged(hierarchy, key, document) ||
            (!is_own && zb__metadata_take(hierarchy, document->path, document))) {
            free(key);
            continue;
        }
        fetches[i] = (zb_fetch){.key = key, .range = {.length = ZB_WHOLE}, .most = limit};
        asked++;
    }
    for (size_t i = 0, last = count; i < count; i++) { /* in their order */
        if (fetches[i].key && last < count)
            fetches[last].next = &fetches[i];
        last = fetches[i].key ? i : last;
    }
    return asked;
}

/* By their paths. is_own: of the store itself, as it is now. most: the bytes of one, besides the
   limit. */
static enum zb_code read_all(zb_hierarchy *hierarchy, zb__prefetched_document *documents,
                             size_t count, bool is_own, uint64_t most, zb_error *err) {
    const char *limit_name;
    uint64_t limit = zb__document_limit(&limit_name);
    limit = most < limit ? most : limit;
    zb_fetch *fetches = calloc(count + 1, sizeof *fetches);
    if (!fetches)
        return zb_fail(err, ZB_ENOMEM, "no memory for documents");
    size_t asked = prepare(hierarchy, documents, count, is_own, fetches, limit), first = 0;
    while (first < count && !fetches[first].key)
        first++;
    enum zb_code code = zb__fetch_all(hierarchy->store, &fetches[first], asked, err);
    for (size_t i = 0; i < count; i++) {
        if (fetches[i].key && !code)
            take(&documents[i], &fetches[i], limit_name);
        zb_object_close(fetches[i].object);
        free((void *)(uintptr_t)fetches[i].key);
    }
    free(fetches);
    return code;
}

static void free_all(zb__prefetched_document *documents, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(documents[i].path);
        free(documents[i].text);
        documents[i] = (zb__prefetched_document){.path = NULL};
    }
}

void zb__documents_fetch(zb_hierarchy *hierarchy, const char *const *paths, size_t count,
                         uint64_t changes) {
    zb__prefetched_document *documents = calloc(count + 1, sizeof *documents);
    for (size_t i = 0; documents && i < count; i++)
        documents[i].path = strdup(paths[i]);
    enum zb_code code = documents
                            ? read_all(hierarchy, documents, count, false, ZB__METADATA_MOST, NULL)
                            : ZB_ENOMEM;
    for (size_t i = 0; i < count && !code; i++) {
        if (documents[i].is_answer)
            zb__metadata_keep(hierarchy, &documents[i], changes, true);
    }
    if (documents)
        free_all(documents, count);
    free(documents);
}

/* ---- Children on the way of a visit ------------------------------------------------------- */

/* Those from name number i on, in place of those that were there before. */
static enum zb_code read_children(zb__prefetched_children *prefetched, size_t i, zb_error *err) {
    const zb__names *names = prefetched->names;
    const uint64_t changes = zb_store_changes(prefetched->hierarchy->store);
    if (!prefetched->documents)
        prefetched->documents = calloc(AHEAD, sizeof *prefetched->documents);
    if (!prefetched->documents)
        return zb_fail(err, ZB_ENOMEM, "no memory for documents");
    free_all(prefetched->documents, prefetched->count);
    prefetched->first = i;
    prefetched->count = names->count - i < AHEAD ? names->count - i : AHEAD;
    for (size_t k = 0; k < prefetched->count; k++)
        prefetched->documents[k].path = zb__path_join(prefetched->path, names->name[i + k].text);
    enum zb_code code = read_all(prefetched->hierarchy, prefetched->documents, prefetched->count,
                                 prefetched->is_own, UINT64_MAX, err);
    for (size_t k = 0; k < prefetched->count && !code && !prefetched->is_own; k++) {
        if (prefetched->documents[k].is_answer && prefetched->documents[k].text)
            zb__metadata_keep(prefetched->hierarchy, &prefetched->documents[k], changes, false);
    }
    return code;
}

enum zb_code zb__prefetched_children_at(zb__prefetched_children *prefetched, size_t i,
                                        zb__prefetched_document **out, zb_error *err) {
    enum zb_code code = ZB_OK;
    *out = NULL;
    if (!zb__documents_pay(prefetched->hierarchy))
        return ZB_OK;
    if (!prefetched->documents || i >= prefetched->first + prefetched->count)
        code = read_children(prefetched, i, err);
    if (!code)
        *out = &prefetched->documents[i - prefetched->first];
    return code;
}

void zb__prefetched_children_free(zb__prefetched_children *prefetched) {
    if (prefetched->documents)
        free_all(prefetched->documents, prefetched->count);
    free(prefetched->documents);
}

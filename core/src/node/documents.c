/* SPDX-License-Identifier: MIT */
#include "node/documents.h"

#include <stdlib.h>
#include <string.h>

#include "node/document.h"
#include "node/node.h"
#include "node/served.h"
#include "node/v2.h"
#include "node/version.h"
#include "store/fetch_all.h"
#include "zarrbridge/limits.h"

bool zb__documents_pay(const zb_store *store) {
    return !store->hints.is_local && zb_store_can_submit(store);
}

/* Takes over the bytes of an answer; texts end with a NUL. */
static void take(zb__early_document *document, zb_fetch *fetch, const char *limit_name) {
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

/* The path of each document, and its text where that is served. Returns the number of the others,
   whose requests it makes. */
static size_t prepare(zb_store *store, zb__early_document *documents, size_t count,
                      zb_fetch *fetches, uint64_t limit) {
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        zb__early_document *document = &documents[i];
        char *key = document->path ? zb__path_join(document->path, "zarr.json") : NULL;
        document->code = ZB_OK;
        document->text =
            key ? zb__served_text(store, document->path, &document->size, &document->format) : NULL;
        if (!key)
            document->code = zb_fail(&document->error, ZB_ENOMEM, "no memory for a key");
        if (!key || document->text) {
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

enum zb_code zb__documents_read(zb_store *store, const char *path, const char *const *names,
                                size_t count, zb__early_document *documents, zb_error *err) {
    const char *limit_name;
    const uint64_t limit = zb__document_limit(&limit_name);
    zb_fetch *fetches = calloc(count + 1, sizeof *fetches);
    zb__documents_free(documents, count);
    if (!fetches)
        return zb_fail(err, ZB_ENOMEM, "no memory for documents");
    for (size_t i = 0; i < count; i++)
        documents[i].path = zb__path_join(path, names[i]);
    size_t asked = prepare(store, documents, count, fetches, limit), first = 0;
    while (first < count && !fetches[first].key)
        first++;
    enum zb_code code = zb__fetch_all(store, &fetches[first], asked, err);
    for (size_t i = 0; i < count; i++) {
        if (fetches[i].key && !code)
            take(&documents[i], &fetches[i], limit_name);
        zb_object_close(fetches[i].object);
        free((void *)(uintptr_t)fetches[i].key);
    }
    free(fetches);
    return code;
}

void zb__documents_free(zb__early_document *documents, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(documents[i].path);
        free(documents[i].text);
        documents[i] = (zb__early_document){.path = NULL};
    }
}

enum zb_code zb__early_document_open(zb_store *store, const zb__early_document *document,
                                     zb_node **out, zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    zb_object_info info = document->info;
    enum zb_code code = document->code;
    const bool is_older = code == ZB_ENOTFOUND;
    if (code && err)
        *err = document->error;
    if (is_older)
        code = zb__v2_read(store, document->path, &text, &size, &info, err);
    if (code == ZB_ENOTFOUND && err)
        *err = document->error;
    if (!code)
        code = zb__node_make(store, document->path, is_older ? text : document->text,
                             is_older ? size : document->size, out, err);
    else
        code = zb__node_blame(store, "node", document->path, code, err);
    free(text);
    if (code)
        return code;
    (*out)->format = is_older ? 2 : document->format;
    zb__node_mark_version(*out, 0, &info);
    return ZB_OK;
}

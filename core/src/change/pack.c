/* SPDX-License-Identifier: MIT */
/* Packing a store into a zip archive. */
#include "node/walk.h"
#include "store/zip_write.h"
#include "zarrbridge/change.h"

typedef struct packing {
    zb_store *store;
    zb__zip_writer writer;
} packing;

static enum zb_code add_object(void *context, const char *key, zb_error *err) {
    packing *p = context;
    return zb__zip_add(&p->writer, p->store, key, err);
}

enum zb_code zb_store_pack(zb_store *store, const char *path, zb_error *err) {
    packing p = {.store = store};
    enum zb_code code = store->ops->flush ? zb_store_flush(store, err) : ZB_OK;
    if (!code)
        code = zb__zip_begin(&p.writer, path, err);
    if (code)
        return code;
    code = zb__keys_below(store, "", NULL, add_object, &p, err);
    if (!code)
        return zb__zip_end(&p.writer, err);
    zb__zip_forget(&p.writer);
    return code;
}

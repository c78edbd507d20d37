/* SPDX-License-Identifier: MIT */
/* Packing a store into a zip archive. */
#include "change/pack.h"

#include "hierarchy/staged.h"
#include "node/walk.h"
#include "zarrbridge/change.h"

typedef struct packing {
    zb_hierarchy *hierarchy;
    zb__zip_writer writer;
} packing;

/* In an archive there are no empty directories, and the chunk would read as fill. */
static enum zb_code refuse_prefixes(zb_hierarchy *hierarchy, zb_error *err) {
    zb__names nodes;
    enum zb_code code =
        hierarchy->store->hints.is_local ? zb__nodes_at(hierarchy, "", &nodes, err) : ZB_OK;
    if (code || !hierarchy->store->hints.is_local)
        return code;
    for (size_t i = 0; i < nodes.count && !code; i++)
        if (nodes.name[i].is_prefix)
            code = zb__chunk_prefixes_refuse(hierarchy, nodes.name[i].text, err);
    zb__names_free(&nodes);
    return code;
}

static enum zb_code add_object(void *context, const char *key, zb_error *err) {
    packing *p = context;
    const enum zb_code code = zb__zip_add(&p->writer, zb__place_of(p->hierarchy, key), key, err);
    zb__hierarchy_chunk_done(p->hierarchy);
    return code;
}

enum zb_code zb__pack(zb_hierarchy *hierarchy, const char *path, const zb__zip_front *front,
                      zb_error *err) {
    packing p = {.hierarchy = hierarchy};
    enum zb_code code = hierarchy->store->ops->flush ? zb_hierarchy_flush(hierarchy, err) : ZB_OK;
    if (!code)
        code = refuse_prefixes(hierarchy, err);
    if (!code)
        code = zb__zip_begin(&p.writer, path, front, err);
    if (code)
        return code;
    code = zb__keys_below(hierarchy, "", NULL, add_object, &p, err);
    if (!code)
        return zb__zip_end(&p.writer, err);
    zb__zip_forget(&p.writer);
    return code;
}

enum zb_code zb_hierarchy_pack(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    return zb__pack(hierarchy, path, NULL, err);
}

/* SPDX-License-Identifier: MIT */
#include "hierarchy/plain_group.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/path.h"
#include "hierarchy/version.h"

/* Marks that share a place push each other out, which costs a reading. */
enum { PLACES = 256 };

static atomic_uint_fast64_t known[PLACES];

static uint64_t mark_of(const zb_hierarchy *hierarchy, const char *path,
                        const zb_validator *version) {
    uint64_t word = zb__version_word(version);
    if (!word)
        return 0;
    const uint64_t parts[3] = {word, hierarchy->number, zb__hash(path, strlen(path))};
    return zb__hash(parts, sizeof parts);
}

enum zb_code zb__plain_group_mark(zb_hierarchy *hierarchy, const char *path, uint64_t *out,
                                  zb_error *err) {
    *out = 0;
    if (!hierarchy->store->hints.is_watched)
        return ZB_OK;
    char *key = zb__path_join(path, "zarr.json");
    zb_probe probe = {.asks = ZB_ASK_INFO_AGAIN, .name = key};
    enum zb_code code = key ? zb_store_probe(hierarchy->store, &probe, err)
                            : zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    free(key);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    *out = mark_of(hierarchy, path, &probe.info.validator);
    return ZB_OK;
}

static atomic_uint_fast64_t *place_of(uint64_t mark) {
    return &known[mark >> 32 & (PLACES - 1)];
}

bool zb__plain_group_is_known(uint64_t mark) {
    return mark && atomic_load(place_of(mark)) == mark;
}

void zb__plain_group_remember(uint64_t mark) {
    if (mark)
        atomic_store(place_of(mark), mark);
}

/* SPDX-License-Identifier: MIT */
#include "node/prefetch.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/markers.h"
#include "hierarchy/metadata.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/documents.h"
#include "util/lane.h"
#include "zarrbridge/sys/store.h"

/* Documents that come with the names of some groups; the rest come when their group is told. */
#define MOST_DOCUMENTS 256

typedef struct listing {
    const char *path;
    zb__names names; /* those that may be nodes */
    size_t count;    /* of all names */
    bool is_whole;
} listing;

typedef struct job {
    zb_hierarchy *hierarchy;
    listing *listings;
    size_t count;
} job;

/* ---- Names -------------------------------------------------------------------------------- */

static int take_name(void *context, const zb_list_entry *entry) {
    listing *l = context;
    if (++l->count > ZB__METADATA_NAMES)
        l->is_whole = false;
    else if (entry->is_prefix && !zb__name_is_ours(entry->name))
        l->is_whole = !zb__names_add(
            &l->names, (zb__name){.text = strdup(entry->name), .is_link = entry->is_link}, NULL);
    return !l->is_whole;
}

/* A failure is left to who lists the group later. */
static enum zb_code list_one(void *context, size_t i, zb__scratch *unused, zb_error *err) {
    const job *j = context;
    listing *l = &j->listings[i];
    (void)unused;
    (void)err;
    l->is_whole = true;
    if (zb__hierarchy_list(j->hierarchy, &(zb_list){.prefix = l->path}, take_name, l, NULL))
        l->is_whole = false;
    if (!l->is_whole)
        zb__names_free(&l->names);
    zb__names_sort(&l->names);
    return ZB_OK;
}

static void list_all(job *j) {
    zb__lane lane;
    zb__lane_begin_reading(&lane, list_one, j, ZB__LANE_WIDTH_MOST);
    for (size_t i = 0; i < j->count; i++)
        zb__lane_give(&lane, i, NULL);
    zb__lane_end(&lane, ZB_OK, NULL);
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* The paths of the nodes in the listings, as many as fit. */
static void find_nodes(const job *j, zb__names *paths) {
    for (size_t i = 0; i < j->count; i++) {
        const zb__names *names = &j->listings[i].names;
        for (size_t k = 0; k < names->count && paths->count < MOST_DOCUMENTS; k++) {
            char *path = zb__path_join(j->listings[i].path, names->name[k].text);
            if (zb__names_add(paths, (zb__name){.text = path}, NULL))
                return;
        }
    }
}

static void read_documents(const job *j, uint64_t changes) {
    const char *some[MOST_DOCUMENTS];
    zb__names paths = {.count = 0};
    find_nodes(j, &paths);
    for (size_t i = 0; i < paths.count; i++)
        some[i] = paths.name[i].text;
    zb__documents_fetch(j->hierarchy, some, paths.count, changes);
    zb__names_free(&paths);
}

/* ---- Together ----------------------------------------------------------------------------- */

void zb__prefetch_read(zb_hierarchy *hierarchy, const char *path, size_t groups) {
    zb__names paths;
    const uint64_t changes = zb_store_changes(hierarchy->store);
    if (!zb__metadata_pays(hierarchy) || !hierarchy->store->hints.can_list ||
        zb__metadata_has_names(hierarchy, path))
        return;
    job j = {.hierarchy = hierarchy};
    if (!zb__metadata_groups(hierarchy, path, groups, &paths, NULL) && paths.count > 1 &&
        (j.listings = calloc(paths.count, sizeof *j.listings)))
        j.count = paths.count;
    for (size_t i = 0; i < j.count; i++)
        j.listings[i].path = paths.name[i].text;
    list_all(&j);
    if (j.count)
        read_documents(&j, changes);
    for (size_t i = 0; i < j.count; i++) {
        const listing *l = &j.listings[i];
        if (l->is_whole)
            zb__metadata_keep_names(hierarchy, l->path, &l->names, true, changes, true);
        zb__names_free(&j.listings[i].names);
    }
    free(j.listings);
    zb__names_free(&paths);
}

void zb__prefetch_guess(zb_hierarchy *hierarchy, const char *path) {
    const size_t listed = zb__metadata_count(hierarchy, path);
    if (listed < 2)
        return;
    zb__prefetch_read(hierarchy, path,
                      listed < ZB__GROUPS_AHEAD / 4 ? 4 * listed : ZB__GROUPS_AHEAD);
}

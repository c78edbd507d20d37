/* SPDX-License-Identifier: MIT */
/*
 * The lists of levels on a group. Conventions put a list of paths there, most of them finest level
 * first. Only the lists are read here. Whether the levels fit together (type, bands, sizes) is
 * checked by who opens them.
 */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "util/list.h"
#include "util/map.h"

void zb_asset_lists_clear(zb_asset_lists *lists) {
    for (size_t i = 0; i < lists->count; i++)
        zb_strings_clear(&lists->list[i]);
    free(lists->list);
    *lists = (zb_asset_lists){.count = 0};
}

/* ---- The convention's list: families ---- */

/* An entry with an asset. */
typedef struct entry {
    zb__map_link link; /* by asset: of the first entry of that name */
    const char *asset, *source;
    size_t head;    /* an earlier entry of the same family; its own number at the first one */
    size_t members; /* at the head: entries of the family */
} entry;

typedef struct entries {
    entry *entry;
    size_t count, capacity;
    zb__map by_asset;
} entries;

/* True if the entry says that it is the finest level: made of none, and by the factor 1. */
static bool states_finest(const zb_json *item) {
    const zb_json *scale = zb_json_get(zb_json_get(item, "transform"), "scale");
    if (zb_json_get(item, "derived_from") || zb_json_kind_of(scale) != ZB_JSON_ARRAY ||
        !zb_json_first(scale))
        return false;
    double factor = 0;
    for (const zb_json *one = zb_json_first(scale); one; one = zb_json_next(one)) {
        if (!zb_json_double(one, &factor) || factor != 1)
            return false;
    }
    return true;
}

static bool read_entries(const zb_json *layout, entries *all, size_t *finest) {
    for (const zb_json *item = zb_json_first(layout); item; item = zb_json_next(item)) {
        const char *asset = zb_json_string(zb_json_get(item, "asset"));
        const char *source = zb_json_string(zb_json_get(item, "derived_from"));
        if (!asset || !*asset)
            continue;
        if (!zb__list_grow(&all->entry, all->count, &all->capacity, sizeof *all->entry))
            return false;
        all->entry[all->count] = (entry){.asset = asset, .source = source, .head = all->count};
        all->count++;
        *finest += states_finest(item);
    }
    return true;
}

static entry *find_entry(const entries *all, const char *asset) {
    for (zb__map_link *link = zb__map_first(&all->by_asset, zb__hash(asset, strlen(asset))); link;
         link = zb__map_next(link)) {
        entry *found = (entry *)link;
        if (strcmp(found->asset, asset) == 0)
            return found;
    }
    return NULL;
}

/* The first entry of the family that an entry belongs to. A hostile list links its entries to one
   long chain; each walk halves the way of the next. */
static size_t head_of(entries *all, size_t i) {
    while (all->entry[i].head != i) {
        all->entry[i].head = all->entry[all->entry[i].head].head;
        i = all->entry[i].head;
    }
    return i;
}

/* An entry and its source are of one family. */
static bool link_entries(entries *all) {
    for (size_t i = 0; i < all->count; i++) {
        const char *asset = all->entry[i].asset;
        if (find_entry(all, asset))
            continue;
        if (!zb__map_reserve(&all->by_asset))
            return false;
        zb__map_add(&all->by_asset, &all->entry[i].link, zb__hash(asset, strlen(asset)));
    }
    for (size_t i = 0; i < all->count; i++) {
        const char *source = all->entry[i].source;
        const entry *found = source ? find_entry(all, source) : NULL;
        if (!found)
            continue;
        const size_t one = head_of(all, i), other = head_of(all, (size_t)(found - all->entry));
        if (one < other)
            all->entry[other].head = one;
        else
            all->entry[one].head = other;
    }
    for (size_t i = 0; i < all->count; i++) {
        all->entry[i].head = head_of(all, i);
        all->entry[all->entry[i].head].members++;
    }
    return true;
}

/* Families in the order of their first entries. A single family takes in what belongs to none: many
   programs leave the links out, or give some of them. But two entries that say of themselves that
   they are the finest ones are of two. */
static bool list_families(const entries *all, size_t finest, zb_asset_lists *out) {
    size_t linked = 0, families = 0;
    for (size_t i = 0; i < all->count; i++) {
        linked += all->entry[i].members > 1;
        families += all->entry[i].members > 0;
    }
    const bool is_one = linked < 2 && finest < 2;
    size_t *number = calloc(all->count ? all->count : 1, sizeof *number); /* of a head's list */
    out->list = calloc(is_one ? 1 : families, sizeof *out->list);
    bool good = number && out->list;
    for (size_t i = 0; i < all->count && good; i++) {
        const size_t head = is_one ? 0 : all->entry[i].head;
        if (head == i)
            number[i] = out->count++;
        good = zb_strings_add(&out->list[number[head]], all->entry[i].asset);
    }
    free(number);
    return good;
}

static bool convention_lists(const zb_json *layout, zb_asset_lists *out) {
    entries all = {.count = 0};
    size_t finest = 0;
    bool good = read_entries(layout, &all, &finest) && link_entries(&all);
    if (good && all.count > 0)
        good = list_families(&all, finest, out);
    zb__map_free(&all.by_asset);
    free(all.entry);
    return good;
}

/* ---- Other lists ---- */

/* The member of each entry of a list; entries without it are passed over. */
static bool strings_of(const zb_json *list, const char *member, zb_strings *out) {
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY)
        return true;
    for (const zb_json *item = zb_json_first(list); item; item = zb_json_next(item)) {
        const char *text = zb_json_string(zb_json_get(item, member));
        if (text && *text && !zb_strings_add(out, text))
            return false;
    }
    return true;
}

/* A path of ndpyramid's list, and a number that grows with coarser levels. */
typedef struct numbered {
    char *path;
    double number;
    size_t place;
} numbered;

static int compare_numbered(const void *a, const void *b) {
    const numbered *one = a, *other = b;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

/* By the factors that the levels were made with. Without them they are zoom levels, the coarsest
   first. */
static bool sort_by_coarseness(const zb_json *metadata, zb_strings *paths) {
    double *factors = calloc(paths->count + 1, sizeof *factors);
    numbered *all = calloc(paths->count + 1, sizeof *all);
    if (factors && all) {
        const bool known = zb__number_list(zb_json_get(zb_json_get(metadata, "kwargs"), "factors"),
                                           paths->count, factors);
        for (size_t i = 0; i < paths->count; i++)
            all[i] = (numbered){paths->text[i], known ? factors[i] : -(double)i, i};
        qsort(all, paths->count, sizeof *all, compare_numbered);
        for (size_t i = 0; i < paths->count; i++)
            paths->text[i] = all[i].path;
    }
    const bool good = factors && all;
    free(factors);
    free(all);
    return good;
}

/* ndpyramid is known by its methods or by its factors; OME-NGFF 0.4 has the same list and
   neither. */
static bool ndpyramid_levels(const zb_node *group, zb_strings *out) {
    const zb_json *list = zb__attribute(group, "multiscales");
    const zb_json *first = zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
    const zb_json *metadata = zb_json_get(first, "metadata");
    const char *method = zb_json_string(zb_json_get(metadata, "method"));
    if (!(method && strncmp(method, "pyramid_", 8) == 0) &&
        !zb_json_get(zb_json_get(metadata, "kwargs"), "factors"))
        return true;
    return strings_of(zb_json_get(first, "datasets"), "path", out) &&
           sort_by_coarseness(metadata, out);
}

bool zb_is_eopf_product(const zb_nodes *nodes) {
    const zb_json *item = zb__attribute(nodes->at(nodes->context, ""), "stac_discovery");
    return zb_json_kind_of(zb_json_get(item, "properties")) == ZB_JSON_OBJECT;
}

/* Below the root of one of ESA's EOPF products Sentinel-2 has its bands at several resolutions, in
   groups that are called by them: measurements/reflectance/r10m/b02, .../r20m/b02. */
static bool eopf_levels(const zb_node *group, const zb_nodes *nodes, zb_strings *out) {
    static const char *const above[] = {"measurements/reflectance", "quality/mask",
                                        "conditions/mask/detector_footprint"};
    const char *path = zb_node_path(group);
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        if (strcmp(path, above[i]) != 0)
            continue;
        return !zb_is_eopf_product(nodes) ||
               (zb_strings_add(out, "r10m") && zb_strings_add(out, "r20m") &&
                zb_strings_add(out, "r60m"));
    }
    return true;
}

static bool other_list(const zb_node *group, const zb_nodes *nodes, zb_asset_lists *out) {
    zb_strings paths = {.count = 0};
    bool good = strings_of(zb__ome_datasets(group), "path", &paths);
    if (good && paths.count == 0)
        good = ndpyramid_levels(group, &paths);
    if (good && paths.count == 0)
        good = eopf_levels(group, nodes, &paths);
    if (good && paths.count > 0) {
        out->list = calloc(1, sizeof *out->list);
        good = out->list != NULL;
    }
    if (good && paths.count > 0) {
        out->list[0] = paths;
        out->count = 1;
    } else {
        zb_strings_clear(&paths);
    }
    return good;
}

/* Without its declaration, "multiscales" may be any program's private attribute. */
const zb_json *zb__declared_layout(const zb_node *group, const zb_nodes *nodes) {
    const zb_json *layout = zb__level_layout(group);
    return layout && zb_convention_holds(group, ZB_CONVENTION_MULTISCALES, nodes) ? layout : NULL;
}

enum zb_code zb_group_pyramids(const zb_node *group, const zb_nodes *nodes, zb_asset_lists *out,
                               zb_error *err) {
    *out = (zb_asset_lists){.count = 0};
    const zb_json *layout = zb__declared_layout(group, nodes);
    if (layout ? convention_lists(layout, out) : other_list(group, nodes, out))
        return ZB_OK;
    zb_asset_lists_clear(out);
    return zb__no_memory(err);
}

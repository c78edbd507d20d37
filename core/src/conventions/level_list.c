/* SPDX-License-Identifier: MIT */
/*
 * Writing the convention's list of levels. Entries and members that are not ours to change stay
 * word for word. An entry that is put gets its scale, its shape and its place anew, for these
 * follow from the raster; what else it says stays.
 */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "util/extension.h"
#include "util/list.h"
#include "util/map.h"

bool zb__group_may_list(const zb_node *group, const zb_nodes *nodes) {
    return !zb__attribute(group, "multiscales") || zb__declared_layout(group, nodes);
}

void zb_level_list_clear(zb_level_list *list) {
    free(list->multiscales);
    free(list->zarr_conventions);
    *list = (zb_level_list){.multiscales = NULL};
}

/* ---- Entries as text ---- */

static void write_member(zb_json_writer *w, const char *name, const zb_json *value) {
    zb_json_write_name(w, name);
    zb_json_write_value(w, value);
}

static void write_text(zb_json_writer *w, const char *name, const char *text) {
    zb_json_write_name(w, name);
    zb_json_write_string(w, text);
}

/* Elements are at the centres of pixels: the first one of a coarser level lies between those of the
   finer level that it covers. */
static void write_transform(zb_json_writer *w, const zb_level_entry *entry) {
    zb_json_write_name(w, "transform");
    zb_json_begin_object(w);
    zb_json_write_name(w, "scale");
    zb_json_begin_array(w);
    for (uint32_t d = 0; d < entry->ndim; d++)
        zb_json_write_double(w, entry->scale[d]);
    zb_json_end_array(w);
    zb_json_write_name(w, "translation");
    zb_json_begin_array(w);
    for (uint32_t d = 0; d < entry->ndim; d++)
        zb_json_write_double(w, (entry->scale[d] - 1) / 2);
    zb_json_end_array(w);
    zb_json_end_object(w);
}

static bool is_written(const zb_level_entry *entry, const char *name) {
    static const char *const names[] = {"asset",         "derived_from",      "transform",
                                        "spatial:shape", "spatial:transform", NULL};
    return zb__name_in(name, names) || (entry->method && strcmp(name, "resampling_method") == 0);
}

static void write_entry(zb_json_writer *w, const zb_level_entry *entry, const zb_json *before) {
    zb_json_begin_object(w);
    write_text(w, "asset", entry->asset);
    if (entry->derived_from)
        write_text(w, "derived_from", entry->derived_from);
    write_transform(w, entry);
    if (entry->method)
        write_text(w, "resampling_method", entry->method);
    zb_json_write_name(w, "spatial:shape");
    zb_json_begin_array(w);
    zb_json_write_uint64(w, entry->height);
    zb_json_write_uint64(w, entry->width);
    zb_json_end_array(w);
    if (entry->transform) {
        zb_json_write_name(w, "spatial:transform");
        zb_json_begin_array(w);
        for (int i = 0; i < 6; i++)
            zb_json_write_double(w, entry->transform[i]);
        zb_json_end_array(w);
    }
    const bool is_object = zb_json_kind_of(before) == ZB_JSON_OBJECT;
    for (const zb_json *member = is_object ? zb_json_first(before) : NULL; member;
         member = zb_json_next(member)) {
        if (!is_written(entry, zb_json_name(member)))
            write_member(w, zb_json_name(member), member);
    }
    zb_json_end_object(w);
}

/* ---- The list in the making ---- */

/* An entry: one that stays, or one that is put, with what the list has said of it. */
typedef struct item {
    zb__map_link link; /* by asset: of the first item of that name */
    const zb_json *stays;
    const zb_level_entry *put;
    const char *asset, *source; /* NULL: without */
    double factor;              /* how much coarser than the source; 0: not said */
    bool goes;                  /* it is taken out */
    bool had_level, has_level;  /* of the first item of its name: it is the source of one that goes,
                                   of one that stays */
} item;

typedef struct items {
    item *item;
    size_t count, capacity;
} items;

static double product_of(const double *factors, uint32_t count) {
    double product = 1;
    for (uint32_t i = 0; i < count; i++)
        product *= factors[i];
    return product;
}

static const char *text_of(const zb_json *entry, const char *member) {
    return zb_json_string(zb_json_get(entry, member));
}

/* How much coarser than its source an entry is; 0 where it does not say. */
static double factor_of(const zb_json *entry, uint32_t ndim) {
    double factors[ZB_MAX_NDIM];
    const zb_json *scale = zb_json_get(zb_json_get(entry, "transform"), "scale");
    return zb__number_list(scale, ndim, factors) ? product_of(factors, ndim) : 0;
}

static item item_of(const zb_json *stays, const zb_level_entry *put, uint32_t ndim) {
    if (put)
        return (item){.stays = stays,
                      .put = put,
                      .asset = put->asset,
                      .source = put->derived_from,
                      .factor = product_of(put->scale, put->ndim)};
    return (item){.stays = stays,
                  .asset = text_of(stays, "asset"),
                  .source = text_of(stays, "derived_from"),
                  .factor = factor_of(stays, ndim)};
}

static bool insert(items *list, size_t place, item one) {
    if (!zb__list_grow(&list->item, list->count, &list->capacity, sizeof *list->item))
        return false;
    memmove(list->item + place + 1, list->item + place, (list->count - place) * sizeof *list->item);
    list->item[place] = one;
    list->count++;
    return true;
}

static item *find_item(const zb__map *map, const char *asset) {
    for (zb__map_link *link = zb__map_first(map, zb__hash(asset, strlen(asset))); link;
         link = zb__map_next(link)) {
        item *found = (item *)link;
        if (strcmp(found->asset, asset) == 0)
            return found;
    }
    return NULL;
}

static bool map_items(items *list, zb__map *map) {
    for (size_t i = 0; i < list->count; i++) {
        item *one = &list->item[i];
        if (!one->asset || find_item(map, one->asset))
            continue;
        if (!zb__map_reserve(map))
            return false;
        zb__map_add(map, &one->link, zb__hash(one->asset, strlen(one->asset)));
    }
    return true;
}

/* How much coarser than the finest level an item is; 0 for others, and where the list does not say.
   A level may be made of one that is made of another one: the factors of all count. */
static double coarseness_of(const zb__map *map, const item *one, const char *finest) {
    enum { LONGEST_CHAIN = 64 }; /* as many halves are left of no size; ends circles */
    double product = 1;
    const char *asset = one->asset;
    for (int n = 0; n < LONGEST_CHAIN && asset && strcmp(asset, finest) != 0 && product > 0; n++) {
        const item *step = find_item(map, asset);
        product *= step ? step->factor : 0;
        asset = step ? step->source : NULL;
    }
    return asset && strcmp(asset, finest) == 0 ? product : 0;
}

/* Readers go by the order of the list: the last level is the coarsest. */
static bool insert_by_size(items *list, item one) {
    size_t place = list->count;
    zb__map map = {.count = 0};
    bool good = true;
    if (one.source) {
        good = map_items(list, &map);
        for (place = 0; place < list->count && good; place++) {
            if (coarseness_of(&map, &list->item[place], one.source) > one.factor)
                break;
        }
    }
    zb__map_free(&map);
    return good && insert(list, place, one);
}

/* True if the entry stands where a level of another size did. */
static bool changes_size(const item *one, const zb_json *before) {
    const char *source = text_of(before, "derived_from");
    return one->source && (!source || strcmp(source, one->source) != 0 ||
                           factor_of(before, one->put->ndim) != one->factor);
}

static const zb_level_entry *find_put(const zb_level_entry *entries, size_t count,
                                      const char *asset) {
    for (size_t i = 0; i < count && asset; i++) {
        if (strcmp(entries[i].asset, asset) == 0)
            return &entries[i];
    }
    return NULL;
}

/* ---- Attributes ---- */

static void write_items(zb_json_writer *w, const items *list) {
    zb_json_begin_array(w);
    for (size_t i = 0; i < list->count; i++) {
        if (list->item[i].put)
            write_entry(w, list->item[i].put, list->item[i].stays);
        else
            zb_json_write_value(w, list->item[i].stays);
    }
    zb_json_end_array(w);
}

static char *multiscales_text(const zb_node *group, const items *list) {
    zb_json_writer *w = zb_json_writer_new();
    const zb_json *before = zb__attribute(group, "multiscales");
    zb_json_begin_object(w);
    zb_json_write_name(w, "layout");
    write_items(w, list);
    const bool is_object = zb_json_kind_of(before) == ZB_JSON_OBJECT;
    for (const zb_json *member = is_object ? zb_json_first(before) : NULL; member;
         member = zb_json_next(member)) {
        if (strcmp(zb_json_name(member), "layout") != 0)
            write_member(w, zb_json_name(member), member);
    }
    zb_json_end_object(w);
    return zb_json_writer_end(w, NULL);
}

/* The group's declarations with that of the convention, or without; NULL in *out for none. */
static bool declarations_text(const zb_node *group, bool declares, char **out) {
    zb_json_writer *w = zb_json_writer_new();
    const zb_json *list = zb__attribute(group, "zarr_conventions");
    const bool is_list = zb_json_kind_of(list) == ZB_JSON_ARRAY;
    size_t count = declares;
    zb_json_begin_array(w);
    for (const zb_json *one = is_list ? zb_json_first(list) : NULL; one; one = zb_json_next(one)) {
        const char *uuid = text_of(one, "uuid");
        if (uuid && strcmp(uuid, zb_convention_uuid(ZB_CONVENTION_MULTISCALES)) == 0)
            continue;
        zb_json_write_value(w, one);
        count++;
    }
    if (declares)
        zb_json_write_raw(w, zb_convention_entry(ZB_CONVENTION_MULTISCALES));
    zb_json_end_array(w);
    *out = zb_json_writer_end(w, NULL);
    if (!*out)
        return false;
    if (count == 0) {
        free(*out);
        *out = NULL;
    }
    return true;
}

static enum zb_code attributes_of(const zb_node *group, const items *list, zb_level_list *out,
                                  zb_error *err) {
    *out = (zb_level_list){.multiscales = NULL};
    if (list->count > 0)
        out->multiscales = multiscales_text(group, list);
    if ((list->count == 0 || out->multiscales) &&
        declarations_text(group, list->count > 0, &out->zarr_conventions))
        return ZB_OK;
    zb_level_list_clear(out);
    return zb__no_memory(err);
}

/* ---- Changes ---- */

static bool put_items(const zb_json *layout, const zb_level_entry *entries, size_t count,
                      items *list, items *moved) {
    const uint32_t ndim = count > 0 ? entries[0].ndim : 0;
    zb_strings known = {.count = 0};
    bool good = true;
    for (const zb_json *one = zb_json_first(layout); one && good; one = zb_json_next(one)) {
        const char *asset = text_of(one, "asset");
        const zb_level_entry *put = find_put(entries, count, asset);
        const item made = item_of(one, put, ndim);
        items *to = put && changes_size(&made, one) ? moved : list;
        good = insert(to, to->count, made) && (!put || zb_strings_add(&known, asset));
    }
    for (size_t i = 0; i < count && good; i++) {
        if (!zb_strings_have(&known, entries[i].asset))
            good = insert(moved, moved->count, item_of(NULL, &entries[i], ndim));
    }
    zb_strings_clear(&known);
    return good;
}

enum zb_code zb_level_list_put(const zb_node *group, const zb_level_entry *entries, size_t count,
                               zb_level_list *out, zb_error *err) {
    items list = {.count = 0}, moved = {.count = 0};
    *out = (zb_level_list){.multiscales = NULL};
    bool good = put_items(zb__level_layout(group), entries, count, &list, &moved);
    for (size_t i = 0; i < moved.count && good; i++)
        good = insert_by_size(&list, moved.item[i]);
    const enum zb_code code = good ? attributes_of(group, &list, out, err) : zb__no_memory(err);
    free(moved.item);
    free(list.item);
    return code;
}

/* Marks the items that entries which go, and entries which stay, were made of. */
static bool mark_sources(items *all, const zb_strings *assets, zb__map *map) {
    if (!map_items(all, map))
        return false;
    for (size_t i = 0; i < all->count; i++) {
        item *one = &all->item[i];
        one->goes = one->asset && zb_strings_have(assets, one->asset);
        item *source = one->source ? find_item(map, one->source) : NULL;
        if (source && one->goes)
            source->had_level = true;
        else if (source)
            source->has_level = true;
    }
    return true;
}

static bool stays_in(const item *one, const zb__map *map, bool finest_stays) {
    const item *first = one->asset ? find_item(map, one->asset) : NULL;
    return !one->goes && (finest_stays || !first || !first->had_level || first->has_level);
}

enum zb_code zb_level_list_take_out(const zb_node *group, const zb_strings *assets,
                                    bool finest_stays, zb_level_list *out, zb_error *err) {
    items all = {.count = 0}, left = {.count = 0};
    zb__map map = {.count = 0};
    bool good = true;
    *out = (zb_level_list){.multiscales = NULL};
    for (const zb_json *one = zb_json_first(zb__level_layout(group)); one && good;
         one = zb_json_next(one))
        good = insert(&all, all.count, item_of(one, NULL, 0));
    good = good && mark_sources(&all, assets, &map);
    for (size_t i = 0; i < all.count && good; i++) {
        if (stays_in(&all.item[i], &map, finest_stays))
            good = insert(&left, left.count, all.item[i]);
    }
    const enum zb_code code = good ? attributes_of(group, &left, out, err) : zb__no_memory(err);
    zb__map_free(&map);
    free(left.item);
    free(all.item);
    return code;
}

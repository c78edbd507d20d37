/* SPDX-License-Identifier: MIT */
/* Numbers that netCDF gives to dimensions: see netcdf_numbers.h. */
#include "netcdf/netcdf_numbers.h"

#include "attributes/exact.h"
#include "links/links.h"
#include "scales/dimensions.h"
#include "scales/scale_names.h"
#include "scales/scales.h"

#include <string.h>

static bool has_number(const vol_node *node, uint64_t *out) {
    return zb_json_uint64(vol_attribute(node, VOL_NETCDF_NUMBER), out) && *out < INT32_MAX;
}

/* ---- Numbering ---- */

typedef struct numbering {
    vol_map taken; /* one more than a number: by which scale */
    uint64_t next; /* the next one of netCDF */
    bool fails;    /* without memory */
    bool clashes;
} numbering;

static bool take(numbering *all, vol_node *scale, uint64_t number) {
    if (vol_map_get(&all->taken, number + 1)) {
        all->clashes = true;
        return false;
    }
    all->fails |= !vol_map_set(&all->taken, number + 1, scale);
    scale->dimension_number = number + 1;
    return true;
}

static void take_stored(vol_node *node, numbering *all) {
    uint64_t number;
    if (vol_dims_is_scale(node) && has_number(node, &number))
        take(all, node, number);
}

/* A scale without a number gets the next one, and netCDF itself does not look whether another scale
   has it. */
static void take_next(vol_node *node, numbering *all) {
    if (!vol_dims_is_scale(node))
        return;
    while (node->dimension_number == 0 && !all->fails && !take(all, node, all->next))
        all->next++;
    if (node->dimension_number > all->next)
        all->next = node->dimension_number;
}

uint64_t vol_numbers_of(vol_node *dataset, uint32_t d) {
    const vol_node *scale = vol_dims_scale(dataset, d);
    return scale && scale->dimension_number > 0 ? scale->dimension_number - 1 : UINT64_MAX;
}

/* Whether a dataset has another one's numbers. Those of dimensions without a scale say nothing. */
static void compare(vol_node *node, numbering *all) {
    const zb_json *numbers = vol_attribute(node, VOL_NETCDF_NUMBERS);
    uint64_t number;
    uint32_t d = 0;
    if (zb_json_kind_of(numbers) != ZB_JSON_ARRAY ||
        zb_json_count(numbers) != zb_node_array(node->zarr)->ndim)
        return;
    for (const zb_json *one = zb_json_first(numbers); one; one = zb_json_next(one), d++) {
        const uint64_t its = vol_numbers_of(node, d);
        all->clashes |= its != UINT64_MAX && (!zb_json_uint64(one, &number) || number != its);
    }
}

static void mark(vol_node *node, numbering *all) {
    (void)all;
    node->is_renumbered = true;
}

/* The datasets of a group in the order of their links, and then those of the groups in it: so
   netCDF opens them. */
static void each(vol_node *group, void (*act)(vol_node *, numbering *), numbering *all) {
    if (vol_node_list(group, NULL) != ZB_OK)
        return;
    for (int groups = 0; groups < 2; groups++)
        for (size_t i = 0; i < vol_links_count(group); i++) {
            vol_link *link = vol_links_in_order(group, true, false, i);
            if (!link || vol_link_open(link, NULL) != ZB_OK || !link->node)
                continue;
            if (groups && link->node->kind == VOL_GROUP)
                each(link->node, act, all);
            else if (!groups && link->node->kind == VOL_DATASET)
                act(link->node, all);
        }
}

/* Of scales that have been made since the file was opened netCDF knows the numbers. */
static void settle(vol_file *file) {
    numbering all = {.next = 0};
    file->numbers_settled = true;
    if (vol_scales_changes(file) > 0)
        return;
    each(file->root, take_stored, &all);
    each(file->root, take_next, &all);
    each(file->root, compare, &all);
    if (all.clashes && !all.fails)
        each(file->root, mark, &all);
    vol_map_clear(&all.taken);
}

/* ---- Showing ---- */

static void write_numbers(zb_json_writer *out, vol_node *dataset) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    zb_json_begin_array(out);
    for (uint32_t d = 0; d < ndim; d++)
        zb_json_write_uint64(out, vol_numbers_of(dataset, d));
    zb_json_end_array(out);
}

/* The members "entry" and `name` of an object, as attributes/exact.h has them; NULL without
   memory. */
static zb_json *print(vol_node *dataset, const char *name, bool is_list) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    zb_json_write_name(out, "entry");
    zb_json_begin_object(out);
    zb_json_write_name(out, "type");
    zb_json_write_string(out, "<i4");
    zb_json_write_name(out, "shape");
    zb_json_begin_array(out);
    if (is_list)
        zb_json_write_uint64(out, zb_node_array(dataset->zarr)->ndim);
    zb_json_end_array(out);
    zb_json_end_object(out);
    zb_json_write_name(out, name);
    if (is_list)
        write_numbers(out, dataset);
    else
        zb_json_write_uint64(out, dataset->dimension_number - 1);
    zb_json_end_object(out);
    return vol_exact_parse(out);
}

bool vol_numbers_have_all(vol_node *dataset) {
    const uint32_t ndim = zb_node_array(dataset->zarr)->ndim;
    uint32_t d = 0;
    while (d < ndim && vol_numbers_of(dataset, d) != UINT64_MAX)
        d++;
    return d == ndim;
}

static void show(vol_attrs *attrs, vol_node *dataset, const char *name, bool is_list) {
    const bool is_there = vol_attrs_find(attrs, name) != NULL;
    if (is_list ? !is_there : dataset->dimension_number == 0)
        return;
    vol_attrs_remove(attrs, name);
    if (is_list && !vol_numbers_have_all(dataset))
        return;
    zb_json *both = print(dataset, name, is_list);
    if (both)
        vol_exact_apply_made(attrs, dataset, both, name);
    zb_json_free(both);
    vol_attr *attr = vol_attrs_find(attrs, name);
    if (attr)
        attr->derived = attr->unlisted = !is_there;
}

void vol_numbers_complete(vol_attrs *attrs, vol_node *node, const char *name) {
    const bool is_list = strcmp(name, VOL_NETCDF_NUMBERS) == 0;
    vol_file *file = node->file;
    if (!file->options.is_netcdf || node->kind != VOL_DATASET ||
        (!is_list && strcmp(name, VOL_NETCDF_NUMBER) != 0))
        return;
    if (!file->numbers_settled)
        settle(file);
    bool *shown = &attrs->has_number[is_list];
    if (!node->is_renumbered || *shown)
        return;
    *shown = true;
    show(attrs, node, name, is_list);
}

/* ---- For store_numbers.c ---- */

bool vol_numbers_are_settled(const vol_file *file) {
    return file->numbers_settled;
}

bool vol_numbers_differ(const vol_node *node) {
    return node->is_renumbered;
}

void vol_numbers_agree(vol_node *node) {
    node->is_renumbered = false;
}

bool vol_numbers_to_store(vol_node *node, int *out) {
    uint64_t stored;
    *out = (int)node->dimension_number - 1;
    return *out >= 0 && vol_dims_is_scale(node) &&
           (node->is_renumbered || !has_number(node, &stored));
}

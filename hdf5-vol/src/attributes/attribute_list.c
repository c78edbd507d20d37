/* SPDX-License-Identifier: MIT */
/* Lists of attributes: see attribute_list.h. */
#include "attributes/attribute_list.h"

#include "hdf5/held_types.h"
#include "objects/tokens.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

vol_attrs *vol_attrs_new(h5_lib *lib) {
    vol_attrs *attrs = calloc(1, sizeof *attrs);
    if (attrs)
        attrs->lib = lib;
    return attrs;
}

/* What the elements own. */
static void reclaim(h5_lib *lib, vol_attr *attr) {
    hid_t type = vol_held_new(lib, &attr->type);
    lib->H5Treclaim(type, attr->space, *lib->H5P_LST_DATASET_XFER_ID_g, attr->data);
    if (type >= 0)
        lib->H5Tclose(type);
}

void vol_attr_clear(h5_lib *lib, vol_attr *attr) {
    if (attr->kind == VOL_ATTR_BYTES && attr->points && attr->data && attr->count > 0)
        reclaim(lib, attr);
    vol_held_free(&attr->type);
    vol_held_free(&attr->new_refs);
    if (attr->space > 0)
        lib->H5Sclose(attr->space);
    if (attr->kind == VOL_ATTR_TEXT && attr->data)
        for (size_t i = 0; i < attr->count; i++)
            free(((char **)attr->data)[i]);
    free(attr->data);
    free(attr->array);
    free(attr->committed);
    free(attr->name);
}

void vol_attrs_free(vol_attrs *attrs) {
    if (!attrs)
        return;
    for (size_t i = 0; i < attrs->count; i++)
        vol_attr_clear(attrs->lib, &attrs->attr[i]);
    free(attrs->attr);
    free(attrs->number);
    free(attrs->slot);
    free(attrs->in_order);
    free(attrs->by_name);
    free(attrs);
}

/* ---- Finding by name ---- */

/* The slot of the name in the table, or the one where it would be: from its hash on, before the
   first slot that is free. Three quarters of the table are, at the least. */
static size_t *slot_of(const vol_attrs *attrs, const char *name) {
    const size_t mask = 4 * attrs->capacity - 1; /* capacities are powers of two */
    size_t i = (size_t)vol_hash(VOL_HASH_START, name, strlen(name));
    for (;; i++) {
        size_t *slot = &attrs->slot[i & mask];
        const char *there = *slot ? attrs->attr[*slot - 1].name : NULL;
        if (*slot == 0 || (there && strcmp(there, name) == 0))
            return slot;
    }
}

vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name) {
    size_t at = attrs->capacity ? *slot_of(attrs, name) : 0;
    return at ? &attrs->attr[at - 1] : NULL;
}

/* ---- Adding ---- */

#define FEWEST 8

/* Closes the gaps that removed attributes have left. The table is out of date then. */
static void close_gaps(vol_attrs *attrs) {
    size_t used = 0;
    for (size_t i = 0; i < attrs->count; i++) {
        if (!attrs->attr[i].name)
            continue;
        attrs->number[used] = attrs->number[i];
        attrs->attr[used++] = attrs->attr[i];
    }
    attrs->count = used;
}

static void fill_table(vol_attrs *attrs) {
    attrs->is_sorted = false;
    for (size_t i = 0; i < attrs->count; i++)
        *slot_of(attrs, attrs->attr[i].name) = i + 1;
}

/* Moves all to arrays of that capacity. False when memory runs out; the list is as it was then. */
static bool grow(vol_attrs *attrs, size_t capacity) {
    size_t *slot = calloc(4 * capacity, sizeof *slot);
    vol_attr **in_order = malloc(capacity * sizeof *in_order);
    vol_attr **by_name = malloc(capacity * sizeof *by_name);
    uint64_t *number = calloc(capacity, sizeof *number);
    vol_attr *attr = slot && in_order && by_name && number
                         ? realloc(attrs->attr, capacity * sizeof *attr)
                         : NULL;
    if (!attr) {
        free(number);
        free(slot);
        free(in_order);
        free(by_name);
        return false;
    }
    if (attrs->count > 0)
        memcpy(number, attrs->number, attrs->count * sizeof *number);
    free(attrs->number);
    free(attrs->slot);
    free(attrs->in_order);
    free(attrs->by_name);
    attrs->number = number;
    attrs->capacity = capacity;
    attrs->attr = attr;
    attrs->slot = slot;
    attrs->in_order = in_order;
    attrs->by_name = by_name;
    return true;
}

/* Gaps are closed first. A quarter of the capacity is left then, so that this is rare. */
bool vol_attrs_reserve(vol_attrs *attrs, size_t more) {
    if (attrs->count + more <= attrs->capacity)
        return true;
    if (attrs->capacity > 0) {
        close_gaps(attrs);
        memset(attrs->slot, 0, 4 * attrs->capacity * sizeof *attrs->slot);
        fill_table(attrs);
    }
    if (attrs->count + more <= attrs->capacity - attrs->capacity / 4)
        return true;
    size_t capacity = attrs->capacity ? 2 * attrs->capacity : FEWEST;
    while (capacity < attrs->count + more)
        capacity *= 2;
    if (!grow(attrs, capacity))
        return false;
    fill_table(attrs);
    return true;
}

static void give_number(vol_attrs *attrs, size_t i, uint64_t number) {
    attrs->with_number += number > 0 && attrs->number[i] == 0;
    attrs->number[i] = number;
}

void vol_attrs_remove(vol_attrs *attrs, const char *name) {
    vol_attr *attr = vol_attrs_find(attrs, name);
    if (!attr)
        return;
    vol_attr_clear(attrs->lib, attr);
    *attr = (vol_attr){.unlisted = true}; /* its slot stays taken, so that names behind are found */
    uint64_t *number = &attrs->number[attr - attrs->attr];
    if (*number > 0 && --attrs->with_number == 0) /* numbers begin anew, as HDF5's do */
        attrs->last = 0;
    *number = 0;
    attrs->is_sorted = false;
}

vol_attr *vol_attrs_place(vol_attrs *attrs, const char *name) {
    vol_attr *there = vol_attrs_find(attrs, name);
    attrs->is_sorted = false;
    if (there) {
        vol_attr_clear(attrs->lib, there);
        return there;
    }
    if (!vol_attrs_reserve(attrs, 1))
        return NULL;
    attrs->number[attrs->count] = 0;
    if (attrs->numbered)
        give_number(attrs, attrs->count, ++attrs->last);
    *slot_of(attrs, name) = ++attrs->count;
    return &attrs->attr[attrs->count - 1];
}

/* ---- Numbers ---- */

void vol_attrs_set_number(vol_attrs *attrs, const char *name, uint64_t number) {
    const vol_attr *attr = vol_attrs_find(attrs, name);
    if (attr && !attr->derived && attrs->number[attr - attrs->attr] == 0)
        give_number(attrs, (size_t)(attr - attrs->attr), number);
}

void vol_attrs_number_rest(vol_attrs *attrs, uint64_t last) {
    attrs->numbered = true;
    attrs->is_sorted = false;
    bool any = false;
    for (size_t i = 0; i < attrs->count; i++)
        any |= attrs->attr[i].name && !attrs->attr[i].derived;
    attrs->last = any ? last : 0;
    for (size_t i = 0; i < attrs->count; i++)
        if (attrs->attr[i].name && !attrs->attr[i].derived && attrs->number[i] == 0)
            give_number(attrs, i, ++attrs->last);
}

static void unnumber(vol_attrs *attrs) {
    attrs->numbered = attrs->is_sorted = false;
    attrs->with_number = 0;
    for (size_t i = 0; i < attrs->count; i++)
        attrs->number[i] = 0;
}

void vol_attrs_take_number(vol_attrs *attrs, const vol_attr *to, const vol_attr *from) {
    uint64_t *number = attrs->number;
    const size_t i = (size_t)(from - attrs->attr);
    if (!attrs->numbered || number[i] == 0)
        return;
    attrs->last--;
    give_number(attrs, (size_t)(to - attrs->attr), number[i]);
}

vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size) {
    vol_attr *attr = vol_attrs_place(attrs, name);
    if (!attr)
        return NULL;
    *attr = (vol_attr){.kind = kind, .count = count, .dtype = {.size = (uint32_t)size}};
    if (count != 1) {
        attr->ndim = 1;
        attr->dims[0] = count;
    }
    attr->name = strdup(name);
    attr->data = calloc(count, size);
    if (attr->name && attr->data)
        return attr;
    attr->count = 0;
    if (!attr->name)
        attr->name = strdup("");
    return NULL;
}

/* ---- In an order ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp((*(vol_attr *const *)a)->name, (*(vol_attr *const *)b)->name);
}

/* Reopening the file shows the document's attributes first, so the others come behind them. Numbers
   are kept. */
static bool comes_last(const vol_attrs *attrs, const vol_attr *attr) {
    return attrs->numbered ? attrs->number[attr - attrs->attr] == 0
                           : attr->derived || attr->place == VOL_ATTR_STATED;
}

static int compare_orders(const void *a, const void *b) {
    const vol_attr *left = *(vol_attr *const *)a, *right = *(vol_attr *const *)b;
    return (left->order > right->order) - (left->order < right->order);
}

/* The first `count` of the listed ones have numbers, if the list has. */
static void sort_numbers(vol_attrs *attrs, size_t count) {
    vol_attr **list = attrs->in_order;
    for (size_t n = 0; n < attrs->listed; n++)
        list[n]->order = n;
    if (!attrs->numbered)
        return;
    bool sorted = true;
    for (size_t n = 0; n < count; n++) {
        list[n]->order = (size_t)attrs->number[list[n] - attrs->attr] - 1;
        sorted &= n == 0 || list[n]->order > list[n - 1]->order;
    }
    for (size_t n = count; n < attrs->listed; n++)
        list[n]->order = (size_t)attrs->last + n - count;
    if (!sorted)
        qsort(list, count, sizeof *list, compare_orders);
}

static void sort(vol_attrs *attrs) {
    if (attrs->is_sorted)
        return;
    attrs->listed = 0;
    size_t in_document = 0;
    for (int last = 0; last <= 1; last++) {
        for (size_t i = 0; i < attrs->count; i++)
            if (!attrs->attr[i].unlisted && comes_last(attrs, &attrs->attr[i]) == (last == 1))
                attrs->in_order[attrs->listed++] = &attrs->attr[i];
        if (last == 0)
            in_document = attrs->listed;
    }
    sort_numbers(attrs, in_document);
    if (attrs->listed > 0) {
        memcpy(attrs->by_name, attrs->in_order, attrs->listed * sizeof *attrs->by_name);
        qsort(attrs->by_name, attrs->listed, sizeof *attrs->by_name, compare_names);
    }
    attrs->is_sorted = true;
}

size_t vol_attrs_listed(vol_attrs *attrs) {
    sort(attrs);
    return attrs->listed;
}

const vol_attr *vol_attrs_at(vol_attrs *attrs, bool by_name, size_t n) {
    sort(attrs);
    return by_name ? attrs->by_name[n] : attrs->in_order[n];
}

bool vol_attrs_order(vol_attrs *attrs, const vol_attr *attr, size_t *out) {
    sort(attrs);
    *out = attr->order;
    return !attr->unlisted;
}

/* ---- The list of a node ---- */

vol_attrs *vol_node_attrs_now(const vol_node *node) {
    return node->attrs.list;
}

vol_attrs *vol_node_attrs_begin(vol_node *node) {
    if (!node->attrs.list)
        node->attrs = (vol_node_attributes){.list = vol_attrs_new(node->file->lib)};
    return node->attrs.list;
}

void vol_node_attrs_set(vol_node *node, vol_attrs *list) {
    vol_attrs_free(node->attrs.list);
    node->attrs = (vol_node_attributes){.list = list, .change = node->file->changes};
}

/* The attributes of a group are made of its document alone. */
bool vol_node_attrs_are_current(const vol_node *node) {
    return node->attrs.list && node->attrs.change != 0 &&
           (node->kind == VOL_GROUP || node->attrs.change == node->file->changes);
}

void vol_node_attrs_outdate(vol_node *node) {
    node->attrs.change = 0;
    node->file->attribute_changes++;
}

void vol_node_attrs_unnumber(vol_node *node) {
    if (node->attrs.list)
        unnumber(node->attrs.list);
}

uint64_t vol_node_attrs_change(const vol_node *node) {
    return node->attrs.change;
}

void vol_node_attrs_as_before(vol_node *node, uint64_t change) {
    node->attrs.change = change;
}

static bool have(const vol_node *node, enum vol_attr_place place) {
    const vol_attrs *list = node->attrs.list;
    for (size_t i = 0; list && i < list->count; i++)
        if (list->attr[i].place == place)
            return true;
    return false;
}

bool vol_node_attrs_wait(const vol_node *node) {
    return have(node, VOL_ATTR_UNWRITTEN);
}

bool vol_node_attrs_have_own(const vol_node *node) {
    return have(node, VOL_ATTR_STATED) || have(node, VOL_ATTR_UNWRITTEN);
}

/* SPDX-License-Identifier: MIT */
/* The order of attributes: see attribute_order.h. */
#include "attributes/attribute_order.h"

#include "links/numbered_names.h"
#include "scales/scales.h"
#include "tree/side.h"
#include "waiting/waiting.h"

#include <stdlib.h>
#include <string.h>

/* HDF5 has said so (create/list_properties.c). Nodes of other programs show the order of their
   document, and get no side attribute for it. */
static bool is_tracked(vol_node *node) {
    const zb_json *order = zb_json_get(vol_side_get(node, ZB_HDF5_CREATION), "attribute_order");
    const char *word = zb_json_string(order);
    return word && strcmp(word, "none") != 0;
}

void vol_attribute_order_assign(vol_node *node, vol_attrs *attrs, const vol_attrs *before) {
    if (!node->zarr || !is_tracked(node))
        return;
    if (before && before->numbered) {
        for (size_t i = 0; i < before->count; i++)
            if (before->attr[i].name)
                vol_attrs_set_number(attrs, before->attr[i].name, before->number[i]);
        vol_attrs_number_rest(attrs, before->last);
        return;
    }
    vol_numbered walk = vol_numbered_begin(vol_side_get(node, ZB_HDF5_ATTRIBUTE_LIST));
    for (const char *name; (name = vol_numbered_next(&walk));)
        vol_attrs_set_number(attrs, name, walk.number);
    vol_attrs_number_rest(attrs, walk.number);
}

/* Whether an attribute that the next list will have has the number behind *last, which it would get
   without a list of numbers. */
static bool follows(const vol_attrs *attrs, const char *name, uint64_t *last) {
    const vol_attr *attr = vol_attrs_find(attrs, name);
    return attr && attrs->number[attr - attrs->attr] == ++*last;
}

/* Whether the next list would get the same numbers by itself. */
static bool tells_itself(vol_node *node, const vol_attrs *attrs) {
    static const char *const scales[] = {VOL_SCALE_CLASS, VOL_SCALE_NAME, VOL_SCALE_LIST,
                                         VOL_SCALE_LABELS, VOL_SCALE_BACK};
    vol_attribute_walk walk = {.document = NULL};
    const zb_json *one;
    uint64_t last = 0;
    while ((one = vol_attribute_next(node, &walk)))
        if (!vol_side_hides(node, zb_json_name(one)) && !follows(attrs, zb_json_name(one), &last))
            return false;
    const zb_json *stated = vol_scales_get(node);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (zb_json_get(stated, scales[i]) && !follows(attrs, scales[i], &last))
            return false;
    return last == attrs->last;
}

/* Malloc'ed; NULL when memory runs out. */
static char *print_list(vol_attrs *attrs) {
    zb_json_writer *list = zb_json_writer_new();
    uint64_t last = 0;
    zb_json_begin_array(list);
    for (size_t i = 0; i < vol_attrs_listed(attrs); i++) {
        const vol_attr *attr = vol_attrs_at(attrs, false, i);
        const uint64_t number = attrs->number[attr - attrs->attr];
        if (number > last)
            vol_numbered_write(list, attr->name, number, &last);
    }
    vol_numbered_write(list, NULL, attrs->last, &last);
    zb_json_end_array(list);
    return zb_json_writer_end(list, NULL);
}

/* Whether a text is what is kept already. */
static bool is_kept(vol_node *node, const char *json) {
    const zb_json *kept = vol_side_get(node, ZB_HDF5_ATTRIBUTE_LIST);
    char *text = kept ? zb_json_print(kept) : NULL;
    const bool is = text && strcmp(text, json) == 0;
    free(text);
    return is;
}

/* An object whose side attribute is not ours keeps no numbers. */
enum zb_code vol_attribute_order_keep(vol_node *node, zb_error *err) {
    vol_attrs *attrs = vol_node_attrs_now(node);
    if (!attrs || !attrs->numbered || !node->zarr || vol_side_check(node, NULL) != ZB_OK)
        return ZB_OK;
    if (attrs->last == 0 || tells_itself(node, attrs))
        return vol_side_set(node, ZB_HDF5_ATTRIBUTE_LIST, NULL, err);
    char *json = print_list(attrs);
    enum zb_code code = ZB_OK;
    if (!json)
        code = zb_fail(err, ZB_ENOMEM, "no memory for the order of attributes");
    else if (!is_kept(node, json))
        code = vol_side_set(node, ZB_HDF5_ATTRIBUTE_LIST, json, err);
    free(json);
    return code;
}

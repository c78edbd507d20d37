/* SPDX-License-Identifier: MIT */
#include "node/listing.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/staged.h"

typedef struct taking {
    zb__names *names;
    enum zb_code code;
    zb_error *err;
} taking;

static int take_name(void *context, const zb_list_entry *entry) {
    taking *l = context;
    zb__name name = {.text = strdup(entry->name),
                     .is_prefix = entry->is_prefix,
                     .is_link = entry->is_link,
                     .leads_back = entry->leads_back};
    l->code = zb__names_add_listed(l->names, name, l->err);
    return l->code;
}

enum zb_code zb__list(zb_hierarchy *hierarchy, const char *prefix, zb__names *out, zb_error *err) {
    taking l = {.names = out, .err = err};
    *out = (zb__names){.count = 0};
    enum zb_code code =
        zb__hierarchy_list(hierarchy, &(zb_list){.prefix = prefix}, take_name, &l, err);
    code = l.code ? l.code : code;
    if (code)
        zb__names_free(out);
    return code;
}

/* ---- Apart -------------------------------------------------------------------------------- */

typedef struct apart {
    zb__listing *out;
    enum zb_code code;
    zb_error *err;
} apart;

static int take_apart(void *context, const zb_list_entry *entry) {
    apart *a = context;
    if (entry->leads_back)
        return 0;
    if (entry->is_prefix) {
        zb__name name = {.text = strdup(entry->name), .is_prefix = true, .is_link = entry->is_link};
        a->code = zb__names_add_listed(&a->out->prefixes, name, a->err);
    } else {
        zb__text_put(&a->out->objects, entry->name, strlen(entry->name) + 1);
        if (a->out->objects.failed)
            a->code = zb_fail(a->err, ZB_ENOMEM, "out of memory for the names of objects");
    }
    return a->code;
}

static enum zb_code sort_apart(zb_hierarchy *hierarchy, const zb_list *list, zb__listing *out,
                               zb_error *err) {
    apart a = {.out = out, .err = err};
    *out = (zb__listing){.prefixes = {.count = 0}};
    enum zb_code code = zb__hierarchy_list(hierarchy, list, take_apart, &a, err);
    code = a.code ? a.code : code;
    if (code)
        zb__listing_free(out);
    return code;
}

enum zb_code zb__list_apart(zb_hierarchy *hierarchy, const char *prefix, zb__listing *out,
                            zb_error *err) {
    return sort_apart(hierarchy, &(zb_list){.prefix = prefix}, out, err);
}

enum zb_code zb__list_below(zb_hierarchy *hierarchy, const char *prefix, zb__listing *out,
                            zb_error *err) {
    return sort_apart(hierarchy, &(zb_list){.prefix = prefix, .is_recursive = true}, out, err);
}

void zb__listing_free(zb__listing *listing) {
    zb__names_free(&listing->prefixes);
    free(listing->objects.data);
    *listing = (zb__listing){.prefixes = {.count = 0}};
}

const char *zb__listing_next(const zb__listing *listing, const char *name) {
    const char *next = name ? name + strlen(name) + 1 : listing->objects.data;
    return next && next < listing->objects.data + listing->objects.size ? next : NULL;
}

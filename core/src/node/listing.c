/* SPDX-License-Identifier: MIT */
#include "node/listing.h"

#include <string.h>

#include "zarrbridge/sys/store.h"

typedef struct listing {
    zb__names *names;
    enum zb_code code;
    zb_error *err;
} listing;

static int take_name(void *context, const zb_list_entry *entry) {
    listing *l = context;
    zb__name name = {.text = strdup(entry->name),
                     .is_prefix = entry->is_prefix,
                     .is_link = entry->is_link,
                     .leads_back = entry->leads_back};
    l->code = zb__names_add_listed(l->names, name, l->err);
    return l->code;
}

enum zb_code zb__list(zb_store *store, const char *prefix, zb__names *out, zb_error *err) {
    listing l = {.names = out, .err = err};
    *out = (zb__names){.count = 0};
    enum zb_code code = zb_store_list(store, prefix, take_name, &l, err);
    code = l.code ? l.code : code;
    if (code)
        zb__names_free(out);
    return code;
}

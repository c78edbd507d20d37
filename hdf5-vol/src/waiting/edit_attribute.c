/* SPDX-License-Identifier: MIT */
/* Changing attributes: see edit_attribute.h. */
#include "waiting/edit_attribute.h"

#include "attributes/attribute_list.h"
#include "attributes/large_attributes.h"
#include "tree/side.h"
#include "waiting/waiting.h"
#include "waiting/waiting_store.h"

#include "zarrbridge/change.h"

#include <stdlib.h>
#include <string.h>

/* A change of an attribute, and, where it is stored early, what had been accepted of it before.

   What waits is stored early when it is much: so a value that no document can hold fails when it is
   set, and what the others take stays small. */
typedef struct edit {
    const char *name, *json, *entry;
    size_t bytes;
    bool is_early;
    vol_former attribute, former_entry;
} edit;

static enum zb_code remember(const vol_node *node, edit *e, zb_error *err) {
    enum { LARGE = 256 * 1024 };
    const vol_waiting *waiting = vol_waiting_now(node);
    e->is_early = waiting->bytes + e->bytes >= LARGE;
    if (!e->is_early || (vol_changes_remember(&waiting->attributes, e->name, &e->attribute) &&
                         vol_changes_remember(&waiting->entries, e->name, &e->former_entry)))
        return ZB_OK;
    return zb_fail(err, ZB_ENOMEM, "no memory for changes of %s", node->path);
}

/* When that fails this change is taken back, and those before it go on waiting. */
static enum zb_code store_early(vol_node *node, const edit *e, zb_error *err) {
    vol_waiting *waiting = vol_waiting_now(node);
    waiting->bytes += e->bytes;
    enum zb_code code = e->is_early ? vol_waiting_flush(node, err) : ZB_OK;
    if (code) {
        waiting->bytes -= e->bytes;
        vol_changes_restore(&waiting->attributes, e->name, &e->attribute);
        vol_changes_restore(&waiting->entries, e->name, &e->former_entry);
    }
    return code;
}

static enum zb_code set_attribute(vol_node *node, edit *e, zb_error *err) {
    enum zb_code code = remember(node, e, err);
    if (!code)
        code = vol_large_note(node, vol_large_array(vol_side_entry(node, e->name)), err);
    if (!code && !vol_side_hides(node, e->name))
        code = vol_side_set_entry(node, e->name, e->json ? e->entry : NULL, err);
    if (!code)
        code = vol_changes_set(&vol_waiting_now(node)->attributes, e->name, e->json, err);
    return code;
}

enum zb_code vol_edit_attribute(vol_node *node, const char *name, const char *json,
                                const char *entry, zb_error *err) {
    edit e = {.name = name, .json = json, .entry = entry};
    e.bytes = strlen(name) + (json ? strlen(json) : 0) + (entry ? strlen(entry) : 0);
    enum zb_code code = vol_waiting_check(node, err);
    if (!code && !json && !vol_attribute(node, name))
        code = zb_fail(err, ZB_ENOTFOUND, "there is no attribute '%s'", name);
    if (!code && !vol_waiting_get(node))
        code = zb_fail(err, ZB_ENOMEM, "no memory for changes of %s", node->path);
    if (!code)
        code = set_attribute(node, &e, err);
    if (!code)
        code = store_early(node, &e, err);
    free(e.attribute.json);
    free(e.former_entry.json);
    vol_node_attrs_outdate(node);
    return code;
}

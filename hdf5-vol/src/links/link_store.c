/* SPDX-License-Identifier: MIT */
/* Storing links: see link_store.h. */
#include "links/link_store.h"

#include "file/lock_scope.h"
#include "links/aliases.h"
#include "links/link_order.h"
#include "links/links.h"
#include "links/link_entries.h"
#include "scales/dimension_records.h"
#include "waiting/waiting_store.h"

/* One change of the document for both. */
static enum zb_code store_links(vol_node *group, zb_error *err) {
    if (group->loose || !(vol_link_entries_changed(group) || vol_order_is_changed(group)))
        return ZB_OK;
    enum zb_code code = vol_link_entries_store(group, err);
    if (!code && vol_order_is_changed(group))
        code = vol_node_list(group, err); /* a root where nothing has been made yet */
    if (!code)
        code = vol_links_store_order(group, err);
    return code ? code : vol_waiting_flush(group, err);
}

/* Both ends of a link are stored in one lock scope: nobody sees a name without its link, and
   deletes the node for the want of it. After a kill a name without a link means nothing, so names
   come first. They may belong to any node. */
static enum zb_code store_both_below(void *context, zb_error *err) {
    vol_node *node = context;
    enum zb_code code = vol_node_each_below(node->file->root, vol_alias_store_names, err);
    return code ? code : vol_node_each_below(node, store_links, err);
}

/* A store that is only read has no lock scopes; of several ranks the first stores links. */
static bool have_changed(const vol_file *file) {
    return file->writable && file->links_changed && h5_ranks_lead(file->ranks);
}

enum zb_code vol_links_store_below(vol_node *node, zb_error *err) {
    vol_file *file = node->file;
    enum zb_code code = vol_records_store_below(node, err);
    if (code || !have_changed(file))
        return code;
    code = vol_in_lock_scope(file, store_both_below, node, err);
    file->links_changed = code || node != file->root;
    return code;
}

static enum zb_code store_both(void *context, zb_error *err) {
    vol_node *node = context;
    const vol_link_list *entries = vol_link_entries_known(node);
    enum zb_code code = vol_alias_store_names(node, err);
    for (size_t i = 0; entries && i < entries->count && !code; i++)
        if (entries->link[i]->alias_of)
            code = vol_alias_store_names(entries->link[i]->alias_of, err);
    return code ? code : store_links(node, err);
}

enum zb_code vol_links_store_own(vol_node *node, zb_error *err) {
    enum zb_code code = vol_records_store(node, err);
    return code || !have_changed(node->file) ? code
                                             : vol_in_lock_scope(node->file, store_both, node, err);
}

static enum zb_code store_around(vol_node *node, zb_error *err) {
    enum zb_code code = vol_links_store_own(node, err);
    return code ? code : vol_alias_each_group(node, store_links, err);
}

enum zb_code vol_links_store_around(vol_node *top, zb_error *err) {
    return vol_node_each_below(top, store_around, err);
}

/* SPDX-License-Identifier: MIT */
/* Links in the side attribute of their group: see link_entries.h. */
#include "links/link_entries.h"

#include "file/owners.h"
#include "links/links.h"
#include "links/place_text.h"
#include "tree/side.h"

#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

/* Quotes, braces, colons and the kind of an entry, each quote with its escape. */
#define ENTRY_BYTES 64

/* ---- Reading ---- */

/* A path has no part of such a name. */
static bool can_be_found(const char *name) {
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0;
}

/* The one member of an entry, if it has one. */
static const zb_json *only_member(const zb_json *entry) {
    return zb_json_kind_of(entry) == ZB_JSON_OBJECT && zb_json_count(entry) == 1
               ? zb_json_first(entry)
               : NULL;
}

static enum zb_code link_of_json(const zb_json *entry, vol_link **out, zb_error *err) {
    const char *name = zb_json_name(entry);
    const zb_json *only = only_member(entry);
    const char *kind = only ? zb_json_name(only) : "", *text = zb_json_string(only);
    if (can_be_found(name) && strcmp(kind, "soft") == 0 && text && *text)
        return vol_link_new_entry(name, VOL_LINK_SOFT, text, out, err);
    if (can_be_found(name) && strcmp(kind, "hard") == 0 && text)
        return vol_link_new_entry(name, VOL_LINK_ALIAS, text, out, err);
    const char *file = zb_json_string(zb_json_first(only));
    const char *path = file ? zb_json_string(zb_json_next(zb_json_first(only))) : NULL;
    if (can_be_found(name) && strcmp(kind, "external") == 0 && path && zb_json_count(only) == 2 &&
        *file && *path && zb_json_kind_of(only) == ZB_JSON_ARRAY)
        return vol_link_new_external(name, file, path, out, err);
    char *json = zb_json_print(entry);
    enum zb_code code = json ? vol_link_new_entry(name, VOL_LINK_FOREIGN, json, out, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for the link %s", name);
    free(json);
    return code;
}

static enum zb_code reserve(vol_link_entry_set *entries, zb_error *err) {
    return vol_link_list_reserve(&entries->list) ? ZB_OK
                                                 : zb_fail(err, ZB_ENOMEM, "no memory for links");
}

/* In a document that is not our own writing each character may take six bytes, and its escape in
   the attribute's text twelve: bounds are for what is added. */
static uint64_t bytes_of(const vol_link *link) {
    return strlen(link->name) + strlen(link->target) +
           (link->external ? strlen(link->external) : 0) + ENTRY_BYTES;
}

/* The list has been reserved. */
static void insert(vol_node *group, vol_link *link) {
    vol_link_list_insert(&group->link_entries->list, link);
    group->link_entries->bytes += bytes_of(link);
    link->group = group;
}

static enum zb_code read_links(vol_node *group, zb_error *err) {
    const enum zb_code loaded = vol_side_load(group, err);
    if (loaded)
        return loaded;
    const zb_json *entry = zb_json_first(vol_side_get(group, ZB_HDF5_LINKS));
    if (zb_json_kind_of(vol_side_get(group, ZB_HDF5_LINKS)) != ZB_JSON_OBJECT)
        return ZB_OK;
    for (; entry; entry = zb_json_next(entry)) {
        vol_link *link;
        enum zb_code code = reserve(group->link_entries, err);
        if (!code)
            code = link_of_json(entry, &link, err);
        if (code)
            return code;
        insert(group, link);
    }
    return ZB_OK;
}

static vol_link_entry_set *entries_of(vol_node *group, zb_error *err) {
    if (group->link_entries)
        return group->link_entries;
    group->link_entries = calloc(1, sizeof *group->link_entries);
    if (!group->link_entries) {
        zb_fail(err, ZB_ENOMEM, "no memory for the links of %s", group->path);
        return NULL;
    }
    if (read_links(group, err) != ZB_OK)
        vol_link_entries_forget(group);
    return group->link_entries;
}

const vol_link_list *vol_link_entries(vol_node *group, zb_error *err) {
    const vol_link_entry_set *entries = entries_of(group, err);
    return entries ? &entries->list : NULL;
}

const vol_link_list *vol_link_entries_known(const vol_node *group) {
    return group->link_entries ? &group->link_entries->list : NULL;
}

static vol_link *find_any(vol_node *group, const char *name) {
    const vol_link_list *list = vol_link_entries(group, NULL);
    return list ? vol_link_list_find(list, name) : NULL;
}

vol_link *vol_link_entry_find(vol_node *group, const char *name) {
    vol_link *link = find_any(group, name);
    return link && link->kind != VOL_LINK_FOREIGN ? link : NULL;
}

enum zb_code vol_link_entries_show(vol_node *group, zb_error *err) {
    const vol_link_list *list = vol_link_entries(group, err);
    enum zb_code code = list ? ZB_OK : ZB_ENOMEM;
    for (size_t i = 0; !code && i < list->count; i++) {
        vol_link *link = list->link[i];
        if (link->kind == VOL_LINK_FOREIGN || vol_links_find(group, link->name))
            continue;
        code = vol_links_reserve(group, err);
        if (!code)
            vol_links_insert(group, link);
    }
    return code;
}

/* ---- Changing ---- */

/* What the parser refuses makes a document that nobody can read. */
static bool is_text(const char *text) {
    zb_json_writer *writer = zb_json_writer_new();
    zb_json_write_string(writer, text);
    size_t size;
    char *json = zb_json_writer_end(writer, &size);
    zb_json *parsed = NULL;
    bool is = json && zb_json_parse(json, size, &parsed, NULL) == ZB_OK;
    zb_json_free(parsed);
    free(json);
    return is;
}

static enum zb_code check_new(vol_node *group, const vol_link *link, zb_error *err) {
    const uint64_t limit = zb_limits_get()->document_bytes / 4;
    if (vol_side_check(group, err) != ZB_OK)
        return ZB_EUNSUPPORTED;
    if (find_any(group, link->name))
        return vol_place_fail_taken(group, link->name, err);
    if (!can_be_found(link->name) || !is_text(link->name) || !is_text(link->target) ||
        (link->external && !is_text(link->external)))
        return zb_fail(err, ZB_EINVAL, "the name or the value of a link is no UTF-8 text");
    if (group->link_entries->bytes + bytes_of(link) > limit)
        return zb_fail(err, ZB_ELIMIT,
                       "the links of %s take more than a quarter of a document (limit "
                       "document_bytes): put the link '%s' into another group",
                       group->path, link->name);
    return ZB_OK;
}

static void note_change(vol_link *link) {
    vol_owners_note_links(link->group);
    link->changed = link->group->link_entries->changed = true;
}

enum zb_code vol_link_entry_add(vol_node *group, vol_link *link, zb_error *err) {
    vol_link_entry_set *entries = entries_of(group, err);
    enum zb_code code = entries ? check_new(group, link, err) : ZB_ENOMEM;
    if (!code)
        code = reserve(entries, err);
    if (!code && vol_links_are_listed(group))
        code = vol_links_reserve(group, err);
    if (code) {
        vol_link_free(link);
        return code;
    }
    insert(group, link);
    if (vol_links_are_listed(group))
        vol_links_insert(group, link);
    note_change(link);
    return ZB_OK;
}

/* Whether a link is among those that its group shows. */
static bool is_shown(const vol_link *link) {
    return vol_links_find(link->group, link->name) == link;
}

void vol_link_entry_remove(vol_link *link) {
    vol_node *group = link->group;
    vol_link_entry_set *entries = group->link_entries;
    if (is_shown(link)) {
        vol_links_take(link);
        link->group = group;
    }
    vol_link_list_take(&entries->list, link->name);
    entries->bytes -= bytes_of(link);
    vol_owners_note_links(group);
    entries->changed = true;
    link->next_gone = entries->gone;
    entries->gone = link;
}

/* ---- Storing ---- */

/* The entry of a link. */
static void print_link(zb_json_writer *out, const vol_link *link) {
    zb_json_begin_object(out);
    if (link->kind == VOL_LINK_SOFT) {
        zb_json_write_name(out, "soft");
        zb_json_write_string(out, link->target);
    } else if (link->kind == VOL_LINK_EXTERNAL) {
        zb_json_write_name(out, "external");
        zb_json_begin_array(out);
        zb_json_write_string(out, link->external);
        zb_json_write_string(out, link->target);
        zb_json_end_array(out);
    } else {
        zb_json_write_name(out, "hard");
        zb_json_write_string(out, link->target);
    }
    zb_json_end_object(out);
}

static enum zb_code store_link(vol_node *group, vol_link *link, zb_error *err) {
    zb_json_writer *out = zb_json_writer_new();
    print_link(out, link);
    char *json = zb_json_writer_end(out, NULL);
    enum zb_code code = json ? vol_side_set_link(group, link->name, json, err)
                             : zb_fail(err, ZB_ENOMEM, "no memory for links");
    free(json);
    return code;
}

static void free_gone(vol_link_entry_set *entries) {
    for (vol_link *link = entries->gone, *next; link; link = next) {
        next = link->next_gone;
        vol_link_free(link);
    }
    entries->gone = NULL;
}

enum zb_code vol_link_entries_store(vol_node *group, zb_error *err) {
    vol_link_entry_set *entries = group->link_entries;
    enum zb_code code = ZB_OK;
    if (!vol_link_entries_changed(group) || group->loose)
        return ZB_OK;
    for (vol_link *link = entries->gone; link && !code; link = link->next_gone)
        if (!find_any(group, link->name))
            code = vol_side_set_link(group, link->name, NULL, err);
    for (size_t i = 0; i < entries->list.count && !code; i++)
        if (entries->list.link[i]->changed)
            code = store_link(group, entries->list.link[i], err);
    if (code)
        return code;
    for (size_t i = 0; i < entries->list.count; i++)
        entries->list.link[i]->changed = false;
    free_gone(entries);
    entries->changed = false;
    return ZB_OK;
}

/* ---- Forgetting ---- */

void vol_link_entries_forget(vol_node *group) {
    vol_link_entry_set *entries = group->link_entries;
    if (!entries)
        return;
    for (size_t i = 0; i < entries->list.count; i++) {
        if (is_shown(entries->list.link[i]))
            vol_links_take(entries->list.link[i]);
        vol_link_free(entries->list.link[i]);
    }
    free_gone(entries);
    vol_link_list_clear(&entries->list);
    free(entries);
    group->link_entries = NULL;
}

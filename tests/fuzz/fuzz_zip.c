/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a zip archive, opened as a store. Opening ends with a store or an error; each key
 * that the listing tells is there, and its object has the size that it says, or is an error.
 */
#include "fuzz.h"

#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/zarrbridge.h"

#define KEYS 64 /* that are read of one archive */

typedef struct found {
    char *prefix[KEYS]; /* those to be listed; "" first */
    size_t count;
    zb_store *store;
    const char *at;
} found;

static void read_object(zb_store *store, const char *key) {
    zb_object *object;
    zb_object_info info, stat;
    zb_error err;
    char end[16];
    REQUIRE_OK(zb_store_stat(store, key, &stat, &err), err);
    enum zb_code code = zb_object_open(store, key, &object, &info, &err);
    fuzz_check_error(code, &err);
    if (code)
        return;
    zb_range range = {.offset = ZB_FROM_END, .length = sizeof end, .buffer = end};
    code = zb_object_read(object, &range, 1, &err);
    fuzz_check_error(code, &err);
    REQUIRE(info.size == stat.size);
    REQUIRE(code || range.got == (info.size < sizeof end ? info.size : sizeof end));
    zb_object_close(object);
}

static int note(void *context, const zb_list_entry *entry) {
    found *f = context;
    char *key;
    zb_object_info info;
    REQUIRE(*entry->name && !strchr(entry->name, '/'));
    REQUIRE(asprintf(&key, "%s%s%s", f->at, *f->at ? "/" : "", entry->name) >= 0);
    const enum zb_code code = zb_store_stat(f->store, key, &info, NULL);
    REQUIRE(entry->is_prefix || code == ZB_OK || code == ZB_EINVAL); /* not every name is a key */
    if (code == ZB_OK)
        read_object(f->store, key);
    if (entry->is_prefix && f->count < KEYS)
        f->prefix[f->count++] = key;
    else
        free(key);
    return 0;
}

static void list_all(zb_store *store) {
    found f = {.store = store, .count = 1, .prefix = {strdup("")}};
    zb_error err;
    for (size_t i = 0; i < f.count; i++) {
        f.at = f.prefix[i];
        const enum zb_code code = zb_store_list(store, f.at, note, &f, &err);
        fuzz_check_error(code, &err);
    }
    for (size_t i = 0; i < f.count; i++)
        free(f.prefix[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    zb_store *outer, *store;
    zb_hierarchy *hierarchy;
    zb_node *root;
    zb_error err;
    REQUIRE_OK(zb_store_new_mem("outer", &outer, &err), err);
    REQUIRE_OK(zb_store_mem_set(outer, "x.zip", data, size, &err), err);
    enum zb_code code = zb_store_open_zip(outer, "x.zip", NULL, "x.zip", &store, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        list_all(store);
        REQUIRE_OK(zb_hierarchy_over(store, &hierarchy, &err), err);
        code = zb_node_open(hierarchy, "", &root, &err);
        fuzz_check_error(code, &err);
        if (code == ZB_OK)
            zb_node_release(root);
        zb_hierarchy_release(hierarchy);
    }
    zb_store_release(outer);
    return 0;
}

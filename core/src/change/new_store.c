/* SPDX-License-Identifier: MIT */
/*
 * Stores that are made to be written.
 *
 * A directory is made beside its place, and goes there with the first node, which is whole by then:
 * nobody ever finds a directory that is no store yet, and of several programs that make one of the
 * same name exactly one has made it.
 *
 * One on a network holds its documents in memory until it is committed (hierarchy/staged.h).
 *
 * A zip archive is written in one go, since the place of each entry must be known: its objects lie
 * in a directory beside it until it is committed. So until then the name has what it had before,
 * and what a kill leaves is a directory that the next archive of this name removes.
 */
#include "change/new_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "change/copy_marker.h"
#include "change/remove.h"
#include "hierarchy/commit.h"
#include "hierarchy/hierarchy.h"
#include "hierarchy/lock_scope.h"
#include "hierarchy/markers.h"
#include "store/store.h"
#include "util/url.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/sys/staging.h"

/* A store in an empty directory beside the place, and with the label that it will have there. */
static enum zb_code open_beside(const char *path, zb_staging *staging, zb_store **out,
                                zb_error *err) {
    enum zb_code code = zb_staging_make(path, true, staging, err);
    if (!code)
        code = zb_store_open_fs(staging->path, out, err);
    if (code)
        return code;
    char *label = strdup(staging->place);
    if (!label) {
        zb_store_release(*out);
        return zb_fail(err, ZB_ENOMEM, "no memory for a path");
    }
    free((*out)->label);
    (*out)->label = label;
    return ZB_OK;
}

/* ---- Zip archives ---- */

typedef struct new_archive {
    zb_commit base; /* first: the hierarchy knows this part */
    zb_staging staging;
    uint64_t packed; /* the store's count of changes by then */
} new_archive;

/* Packing flushes, which counts as a change. */
static enum zb_code commit(zb_commit *base, zb_hierarchy *hierarchy, zb_error *err) {
    new_archive *n = (new_archive *)base;
    zb_store *store = zb_hierarchy_store(hierarchy);
    zb_object_info info;
    if (zb_store_changes(store) == n->packed)
        return ZB_OK;
    enum zb_code code = zb_store_stat(store, "zarr.json", &info, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    code = zb_hierarchy_pack(hierarchy, store->label, err);
    if (!code)
        n->packed = zb_store_changes(store);
    return code;
}

static void end(zb_commit *base) {
    new_archive *n = (new_archive *)base;
    zb_staging_remove(&n->staging);
    free(n);
}

static enum zb_code create_archive(const char *path, zb_hierarchy **out, zb_error *err) {
    new_archive *n = calloc(1, sizeof *n);
    if (!n)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    zb_store *store = NULL;
    enum zb_code code = open_beside(path, &n->staging, &store, err);
    if (!code) {
        n->packed = zb_store_changes(store);
        code = zb_hierarchy_over(store, out, err);
    }
    if (code) {
        zb_staging_remove(&n->staging);
        free(n);
        return code;
    }
    n->base = (zb_commit){.run = commit, .end = end};
    zb_hierarchy_set_commit(*out, &n->base);
    return ZB_OK;
}

/* ---- On a network ---- */

static int note_any(void *context, const zb_list_entry *entry) {
    (void)entry;
    *(bool *)context = true;
    return 1;
}

/* The marker first: should that program live, it puts nothing more. What has no document stays,
   until nodes come to its place: so they find the marker. */
static enum zb_code take_over(zb_hierarchy *hierarchy, zb__staged *staged, zb_error *err) {
    zb_lock *lock;
    enum zb_code code = zb__staged_note_put(staged, true, err);
    if (!code)
        code = zb__hierarchy_lock(hierarchy, &lock, err);
    if (!code) {
        code = zb__left_overs_erase(hierarchy, "", err);
        code = zb__hierarchy_unlock(lock, code, err);
    }
    return code ? code : zb_store_mem_set(staged->documents, ZB__MARKER_COPY, "", 0, err);
}

/* Where nothing is there, or what a killed program has left. One that was killed when it had put
   the root's document has left a marker in a store that is complete. */
static enum zb_code stage(zb_hierarchy *hierarchy, zb_error *err) {
    zb_store *store = hierarchy->store;
    zb__staged *staged = NULL;
    zb_object_info info;
    bool is_some = false, is_marked = false;
    enum zb_code code = zb_store_list(store, "", note_any, &is_some, err);
    if (!code && is_some)
        code = zb__copy_marker_find(hierarchy, "", &is_marked, err);
    if (code || is_some != is_marked)
        return code;
    if (is_marked && (code = zb_store_stat(store, "zarr.json", &info, err)) != ZB_ENOTFOUND)
        return code;
    code = zb__staged_new(store, !is_marked, &staged, err);
    if (!code && is_marked)
        code = take_over(hierarchy, staged, err);
    if (code)
        zb__staged_free(staged);
    else
        zb__staged_begin(hierarchy, staged);
    return code;
}

enum zb_code zb__new_store_over(zb_store *store, zb_hierarchy **out, zb_error *err) {
    enum zb_code code = zb_hierarchy_over(store, out, err);
    if (!code && (code = stage(*out, err)))
        zb_hierarchy_release(*out);
    return code;
}

/* ---- By the name ---- */

/* A query may hold secrets: it is in no message. */
static enum zb_code not_changed(const char *url, zb_error *err) {
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "%.*s: stores on web servers, and zip archives on the network, are read but not "
        "changed: write to a local directory or to an s3:// or az:// name, and copy that "
        "there",
        (int)zb__url_path_end(url), url);
}

static enum zb_code create_url(const char *name, const zb_store_settings *settings,
                               zb_hierarchy **out, zb_error *err) {
    const zb_store_settings none = {.options = NULL};
    zb_store *store = NULL;
    enum zb_code code = zb_store_open_with(name, settings ? settings : &none, &store, err);
    if (code == ZB_ENOTFOUND) /* an archive: no other store is looked for when it is opened */
        return not_changed(name, err);
    if (code)
        return code;
    if (store->ops->put)
        return zb__new_store_over(store, out, err);
    zb_store_release(store);
    return not_changed(name, err);
}

/* ---- Directories ---- */

typedef struct new_directory {
    zb_commit base;       /* first: the hierarchy knows this part */
    pthread_mutex_t lock; /* of what follows: any thread makes nodes; no other is taken under it */
    zb_staging staging;   /* path NULL: it has come */
    bool is_hidden;       /* it does not come yet */
} new_directory;

/* A rename onto a directory succeeds where that is empty, as one is that waits for a store. */
static enum zb_code come(new_directory *n, zb_store *store, zb_error *err) {
    zb_object_info info;
    if (!n->staging.path || n->is_hidden)
        return ZB_OK;
    enum zb_code code = zb_store_stat(store, "zarr.json", &info, err);
    if (code)
        return code == ZB_ENOTFOUND ? ZB_OK : code;
    if (rename(n->staging.path, store->label) == 0) {
        zb_staging_close(&n->staging);
        zb__fs_note_new(store);
        return ZB_OK;
    }
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        return zb_fail(err, ZB_ECONFLICT, "another program has made '%s' meanwhile", store->label);
    return zb_fail_errno(err, errno, "cannot bring the new store to '%s'", store->label);
}

static enum zb_code come_once(zb_commit *base, zb_hierarchy *hierarchy, zb_error *err) {
    new_directory *n = (new_directory *)base;
    pthread_mutex_lock(&n->lock);
    const enum zb_code code = come(n, zb_hierarchy_store(hierarchy), err);
    pthread_mutex_unlock(&n->lock);
    return code;
}

/* Sets is_hidden, where the store has not come. False: it was so before. */
static bool set_hidden(new_directory *n, zb_store *store, bool is_hidden) {
    pthread_mutex_lock(&n->lock);
    const bool is_set = n->staging.path && n->is_hidden != is_hidden;
    if (is_set) {
        n->is_hidden = is_hidden;
        zb__fs_set_unseen(store, is_hidden);
    }
    pthread_mutex_unlock(&n->lock);
    return is_set;
}

bool zb__new_store_hide(zb_hierarchy *hierarchy) {
    zb_commit *base = hierarchy->commit;
    return base && base->run == come_once &&
           set_hidden((new_directory *)base, hierarchy->store, true);
}

enum zb_code zb__new_store_show(zb_hierarchy *hierarchy, enum zb_code code, zb_error *err) {
    zb_commit *base = hierarchy->commit;
    if (!code && zb__hierarchy_sync(hierarchy) != ZB_SYNC_NONE)
        code = zb_store_flush(hierarchy->store, err);
    (void)set_hidden((new_directory *)base, hierarchy->store, false);
    return code ? code : base->run(base, hierarchy, err);
}

static void end_directory(zb_commit *base) {
    new_directory *n = (new_directory *)base;
    zb_staging_remove(&n->staging);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

static enum zb_code create_beside(const char *path, zb_hierarchy **out, zb_error *err) {
    new_directory *n = calloc(1, sizeof *n);
    if (!n)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    pthread_mutex_init(&n->lock, NULL);
    zb_store *store = NULL;
    enum zb_code code = open_beside(path, &n->staging, &store, err);
    if (!code)
        code = zb_hierarchy_over(store, out, err);
    n->base = (zb_commit){.run = come_once, .end = end_directory, .comes_at_once = true};
    if (code)
        end_directory(&n->base);
    else
        zb_hierarchy_set_commit(*out, &n->base);
    return code;
}

/* An empty file, as programs make it to have a name for themselves, gives way to a directory. A
   directory that somebody has made keeps its rights and its owner. */
static enum zb_code create_directory(const char *path, zb_hierarchy **out, zb_error *err) {
    struct stat info;
    zb_store *store;
    bool is_some = lstat(path, &info) == 0;
    if (is_some && S_ISREG(info.st_mode) && info.st_size == 0) {
        if (unlink(path) != 0)
            return zb_fail_errno(err, errno, "cannot replace the empty file '%s'", path);
        is_some = false;
    }
    if (!is_some)
        return create_beside(path, out, err);
    const enum zb_code code = zb_store_open_fs(path, &store, err);
    return code ? code : zb_hierarchy_over(store, out, err);
}

enum zb_code zb_hierarchy_create(const char *name, const zb_store_settings *settings,
                                 zb_hierarchy **out, zb_error *err) {
    if (zb_name_is_url(name))
        return create_url(name, settings, out, err);
    return zb_path_becomes_zip(name) ? create_archive(name, out, err)
                                     : create_directory(name, out, err);
}

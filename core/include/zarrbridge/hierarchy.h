/* SPDX-License-Identifier: MIT */
/*
 * Hierarchies: trees of groups and arrays in a store. A program opens one by its name, opens nodes
 * of it (node.h), and changes them (change.h). Who writes a backend, or keeps objects that are no
 * nodes, finds stores in zarrbridge/sys/store.h. A hierarchy may be used from any number of threads
 * at once.
 */
#ifndef ZARRBRIDGE_HIERARCHY_H
#define ZARRBRIDGE_HIERARCHY_H

#include <stdbool.h>

#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"
#include "zarrbridge/location.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zb_hierarchy zb_hierarchy;

/* Opens what is in the store of this name: a directory, a file that is a zip archive, or a URL
   (docs/remote.md), also of an archive. In a directory every key is opened beneath it: names and
   symbolic links that lead out of it are refused (ZB_EINVAL). An archive can only be read; a change
   of it is seen at the next question. For a URL no host is asked yet. ZB_ENOTFOUND when a path is
   neither; ZB_EFORMAT for what is no archive; ZB_ELIMIT for an archive's directory above the limit
   consolidated_bytes; ZB_EUNSUPPORTED where the library that speaks to hosts is not installed;
   ZB_EINVAL for a URL that names no store; ZB_EIO; ZB_ENOMEM. The caller releases *out. */
ZB_API enum zb_code zb_hierarchy_open(const char *name, zb_hierarchy **out, zb_error *err);

/* As zb_hierarchy_open. The settings have no meaning for a store that is on no network. ZB_EINVAL
   for settings that are not understood; no message has anything of the last four. */
ZB_API enum zb_code zb_hierarchy_open_with(const char *name, const zb_store_settings *settings,
                                           zb_hierarchy **out, zb_error *err);

/* A hierarchy to be written, by the name of its store: a directory, to which an empty file gives
   way; a name in S3; or a new zip archive (zb_path_becomes_zip). zb_destination_look
   (conventions.h)
   tells before what is there. A directory that is not there comes to its place with the first node,
   in one step, and not before: of several programs that make one at once, one makes a node, and the
   others get ZB_ECONFLICT. An archive
   takes the place of what is there when it is committed (zb_hierarchy_commit), in one step; until
   then its objects lie in a directory beside it (sys/staging.h), and take as much room there. In S3
   nothing has to be made first; where nothing is below the name, its documents are stored when it
   is committed, behind all chunks, and other users see no store until then. settings: as for
   zb_hierarchy_open_with, or NULL. ZB_EUNSUPPORTED for other URLs; else as zb_hierarchy_open. */
ZB_API enum zb_code zb_hierarchy_create(const char *name, const zb_store_settings *settings,
                                        zb_hierarchy **out, zb_error *err);

/* An empty one in memory, for tests and small temporary data. `label` names it in messages.
   Only ZB_ENOMEM. */
ZB_API enum zb_code zb_hierarchy_new_mem(const char *label, zb_hierarchy **out, zb_error *err);

/* One more reference, which is released like the first one; returns the hierarchy. Nodes and
   writers have their own. The last release does what zb_hierarchy_commit and
   zb_hierarchy_write_back have not done yet, and gives up the store. Any thread. */
ZB_API zb_hierarchy *zb_hierarchy_retain(zb_hierarchy *hierarchy);
ZB_API void zb_hierarchy_release(zb_hierarchy *hierarchy); /* NULL is allowed */

/* Whether its store answers in microseconds, without a network. */
ZB_API bool zb_hierarchy_is_local(const zb_hierarchy *hierarchy);

/* Whether its store can list names; else consolidated metadata are the only index. */
ZB_API bool zb_hierarchy_can_list(const zb_hierarchy *hierarchy);

/* From now on changes of documents (creating, attributes, shapes, copying, moving, deleting) are as
   safe as `sync` says. They are never less safe than an earlier call, or a writer of one of the
   nodes, has asked for. A loss of power leaves the old document or the new one, and from
   ZB_SYNC_CLOSE on, once zb_hierarchy_flush or a writer's flush has returned, the new one. With
   ZB_SYNC_NONE a document that did not exist before may be left incomplete until then. */
ZB_API void zb_hierarchy_set_sync(zb_hierarchy *hierarchy, enum zb_sync sync);

/* Tells fn of each chunk, or shard, that a long call on this hierarchy has done with, for programs
   that show how far it is: zb_hierarchy_verify, zb_hierarchy_pack, zb_array_compact, and
   zb_node_copy, of what it copies from. It is called by any thread, by several at once, and returns
   at once. Other objects that are copied as they are, documents of an archive among them, count as
   chunks. NULL: none. Set before other threads use the hierarchy. */
typedef void (*zb_chunk_done_fn)(void *context);
ZB_API void zb_hierarchy_tell_chunks(zb_hierarchy *hierarchy, zb_chunk_done_fn fn, void *context);

/* Whether the consolidated metadata that were read last answer for all nodes below their group, and
   for that group: of nodes that they do not have it is not asked any more, they are missing. Of a
   local store nothing changes. Before other threads use the hierarchy. */
ZB_API void zb_hierarchy_trust_list(zb_hierarchy *hierarchy, bool trusts);

/* The kinds of elements (enum zb_kind) that a program has a use for, one bit each: 1u << kind. From
   now on arrays of others are refused with ZB_EUNSUPPORTED, and listed as unreadable with the
   reason. Without this call all are taken. Before other threads use the hierarchy. */
ZB_API void zb_hierarchy_set_kinds(zb_hierarchy *hierarchy, unsigned kinds);
/* All kinds whose elements point at nothing and have no detail; and all. */
#define ZB_PLAIN_KINDS ((1u << (ZB_KIND_RAW + 1)) - 1)
#define ZB_ALL_KINDS (~0u)

/* Several changes as one lock scope: until it ends no other program and no other thread changes
   nodes of the hierarchy, so that what this one has read of documents meanwhile is still true when
   it changes them. Calls of the same thread go on, through the same hierarchy. Lock scopes of one
   hierarchy may lie in each other. The others wait up to the limit lock_seconds, so that a lock
   scope should be short; nothing in it may wait for another thread's change. Change errors, those
   of the lock. */
typedef struct zb_lock_scope {
    void *lock; /* the core's own */
} zb_lock_scope;

ZB_API enum zb_code zb_lock_scope_begin(zb_hierarchy *hierarchy, zb_lock_scope *lock_scope,
                                        zb_error *err);
/* code: of what was done in the lock scope. It is returned; where it is ZB_OK, the error of
   removing the files of nodes that were deleted in the lock scope, which others do not wait for. */
ZB_API enum zb_code zb_lock_scope_end(zb_hierarchy *hierarchy, zb_lock_scope *lock_scope,
                                      enum zb_code code, zb_error *err);

/* Makes durable all that was changed through the hierarchy, by any writer: objects that wait for a
   flush become visible, too, and zb_hierarchy_write_back is done before. ZB_EIO with the first
   object or name that could not be made durable; ZB_EUNSUPPORTED for a store that cannot be
   written. */
ZB_API enum zb_code zb_hierarchy_flush(zb_hierarchy *hierarchy, zb_error *err);

/* Puts back the consolidated metadata that changes through this hierarchy have taken out of groups
   above, brought up to date (docs/writing.md, "Consolidated metadata"). zb_hierarchy_flush does it,
   and the release of the last reference, which has no way to tell an error. Any thread. */
ZB_API enum zb_code zb_hierarchy_write_back(zb_hierarchy *hierarchy, zb_error *err);

/* Writes back, and makes a new store to be seen that zb_hierarchy_create has made: brings a zip
   archive to its name, durable; puts the documents of a store in S3, the root's last, ZB_ECONFLICT
   where another program has put one meanwhile. A store of another kind is written back only.
   Writers are flushed before, and nobody writes meanwhile. It may be called again, after further
   changes, and does nothing where there are none. The release of the last reference does it, too,
   and has no way to tell an error. A store whose root has no document is not made. Errors as of
   zb_hierarchy_pack; change errors. */
ZB_API enum zb_code zb_hierarchy_commit(zb_hierarchy *hierarchy, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif

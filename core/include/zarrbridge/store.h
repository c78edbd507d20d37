/* SPDX-License-Identifier: MIT */
/*
 * Stores, in which keys hold objects. Programs open one and pass it on. The interface of backends,
 * and the reading and putting of objects, are in zarrbridge/sys/store.h. A store may be used from
 * any number of threads at once.
 */
#ifndef ZARRBRIDGE_STORE_H
#define ZARRBRIDGE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/dtype.h"
#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zb_store zb_store;

/* A directory. Every key is opened beneath it: names and symbolic links that lead out of it are
   refused (ZB_EINVAL). ZB_ENOTFOUND when path is not a directory; ZB_EIO; ZB_ENOMEM. The caller
   releases *out. */
ZB_API enum zb_code zb_store_open_fs(const char *path, zb_store **out, zb_error *err);

/* Creates a directory for a store unless there is one, and opens it as zb_store_open_fs. */
ZB_API enum zb_code zb_store_create_fs(const char *path, zb_store **out, zb_error *err);

/* A zip archive with a store in it, which is the object `key` of another store: at the archive's
   root, or in the one folder there that is a store. Entries are stored or deflated; of several of
   one name the last counts. It can only be read; a change of the archive is seen at the next
   question to the store. `label` names it in messages. ZB_EFORMAT for what is no archive, ZB_ELIMIT
   for a directory above the limit consolidated_bytes; errors of `outer`, which is retained. The
   caller releases *out. */
ZB_API enum zb_code zb_store_open_zip(zb_store *outer, const char *key, const char *label,
                                      zb_store **out, zb_error *err);

/* A store by its name: a directory, as zb_store_open_fs opens it, a file that is a zip archive, or
   a URL (docs/remote.md), also of an archive. For a URL no host is asked yet; ZB_EUNSUPPORTED where
   the library that speaks to hosts is not installed; ZB_EINVAL for a URL that names no store. */
ZB_API enum zb_code zb_store_open(const char *name, zb_store **out, zb_error *err);

/* What a front end says of a store on the network beside its name. Each may be NULL: nothing is
   said. The name's own options count before these, and these before the environment. They are read
   by zb_store_open_with, and need not stay. */
typedef struct zb_store_settings {
    const char *options; /* as those behind the '#' of a name: "name=value&name=value" */
    const char *headers; /* "Name: value" a line, for the host of an http store and no other */
    /* The credentials of a store in S3. They stay as they are: where they expire, give none here
       but a profile with a credential_process in `options`, which is run anew before they do. */
    const char *key_id, *secret_key, *session_token;
} zb_store_settings;

/* As zb_store_open. The settings have no meaning for a store that is on no network. ZB_EINVAL for
   settings that are not understood; no message has anything of the last four. */
ZB_API enum zb_code zb_store_open_with(const char *name, const zb_store_settings *settings,
                                       zb_store **out, zb_error *err);

/* A store to be written, by its name: a directory, as by zb_store_create_fs, to which an empty file
   gives way; a name in S3; or a new zip archive (zb_path_becomes_zip). zb_destination_look
   (conventions.h) tells before what is there. An archive takes the place of what is there when it
   is sealed (zb_store_seal), in one step; until then its objects lie in a directory beside it
   (sys/aside.h), and take as much room there. In S3 nothing has to be made first; where nothing is
   below the name, its documents are stored when it is sealed, behind all chunks, and other users
   see no store until then. settings: as for zb_store_open_with, or NULL. ZB_EUNSUPPORTED for other
   URLs; else as zb_store_open. */
ZB_API enum zb_code zb_store_create(const char *name, const zb_store_settings *settings,
                                    zb_store **out, zb_error *err);

/* Is the name a URL of a kind that zb_store_open knows: https://, http://, s3://? */
ZB_API bool zb_name_is_url(const char *name);

/* May the program write into the directory of a store or node? ZB_EIO where its rights, or a file
   system that is there for reading alone, say no; ZB_ENOTFOUND. Nothing is known of URLs before. */
ZB_API enum zb_code zb_path_may_write(const char *path, zb_error *err);

/* Is a path or URL of this length named as zip archives with a store are: *.zip, or *.ozx (OME's
   RFC 9)? */
ZB_API bool zb_name_is_archive(const char *name, size_t length);

/* Is the path that of a file that begins as a zip archive does? Or of one that ends so and is named
   like one, with something in front of the archive? */
ZB_API bool zb_path_is_zip(const char *path);

/* Does zb_store_create make a zip archive for the path: is it named like one, and leads to no
   directory? */
ZB_API bool zb_path_becomes_zip(const char *path);

/* An empty store in memory, filled by zb_store_mem_set or by writers; for tests and small temporary
   data. Only ZB_ENOMEM, and ZB_EINVAL for a key that is not valid. */
ZB_API enum zb_code zb_store_new_mem(const char *label, zb_store **out, zb_error *err);
ZB_API enum zb_code zb_store_mem_set(zb_store *mem, const char *key, const void *data, size_t size,
                                     zb_error *err);

/* One more reference, which is released like the first one; returns the store. Nodes and writers
   have their own. The last release does what zb_store_seal and zb_store_settle have not done yet,
   and frees the store. Any thread. */
ZB_API zb_store *zb_store_retain(zb_store *store);
ZB_API void zb_store_release(zb_store *store); /* NULL is allowed */

/* The moment from which written data are safe from a loss of power. */
enum zb_sync {
    ZB_SYNC_NONE,  /* when the operating system sees fit */
    ZB_SYNC_CLOSE, /* when zb_writer_flush, zb_writer_close or zb_store_flush has returned */
    ZB_SYNC_ALWAYS /* when the call that writes it returns; each object before it replaces the old
                      one */
};

/* From now on changes of documents (creating, attributes, shapes, copying, moving, deleting)
   through this store are as safe as `sync` says. They are never less safe than an earlier call, or
   a writer that was opened on this store, has asked for. A loss of power leaves the old document or
   the new one, and from ZB_SYNC_CLOSE on, once zb_store_flush or a writer's flush has returned, the
   new one. With ZB_SYNC_NONE a document that did not exist before may be left incomplete until
   then. */
ZB_API void zb_store_set_sync(zb_store *store, enum zb_sync sync);

/* Whether the consolidated metadata that were read last answer for all nodes below their group, and
   for that group: of nodes that they do not have it is not asked any more, they are missing. Of a
   local store nothing changes. Before other threads use the store. */
ZB_API void zb_store_trust_list(zb_store *store, bool trusts);

/* The kinds of elements (enum zb_kind) that a program has a use for, one bit each: 1u << kind. From
   now on arrays of others are refused with ZB_EUNSUPPORTED, and listed as unreadable with the
   reason. Without this call all are taken. Before other threads use the store. */
ZB_API void zb_store_set_kinds(zb_store *store, unsigned kinds);
/* All kinds whose elements point at nothing and have no detail; and all. */
#define ZB_PLAIN_KINDS ((1u << (ZB_KIND_RAW + 1)) - 1)
#define ZB_ALL_KINDS (~0u)

/* Makes durable all that was changed through the store, by any writer: objects that wait for a
   flush become visible, too, and zb_store_settle is done before. ZB_EIO with the first object or
   name that could not be made durable; ZB_EUNSUPPORTED for a store that cannot be written. */
ZB_API enum zb_code zb_store_flush(zb_store *store, zb_error *err);

/* Puts back the consolidated metadata that changes through this store have taken out of groups
   above, brought up to date (docs/writing.md, "Consolidated metadata"). zb_store_flush does it, and
   the release of the store's last reference, which has no way to tell an error. Any thread. */
ZB_API enum zb_code zb_store_settle(zb_store *store, zb_error *err);

/* Settles a store, and makes a new one to be seen that zb_store_create has made: brings a zip
   archive to its name, durable; puts the documents of a store in S3, the root's last, ZB_ECONFLICT
   where another program has put one meanwhile. A store of another kind is settled only. Writers are
   flushed before, and nobody writes meanwhile. It may be called again, after further changes, and
   does nothing where there are none. The release of the store's last reference does it, too, and
   has no way to tell an error. A store whose root has no document is not made. Errors as of
   zb_store_pack; change errors. */
ZB_API enum zb_code zb_store_seal(zb_store *store, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * Creating, changing, copying, moving and deleting nodes.
 *
 * Nodes stay immutable in memory: a call that changes a node's document gives a new node and leaves
 * the old one as it was. The holder of the old one goes on with the old shape and attributes.
 */
#ifndef ZARRBRIDGE_CHANGE_H
#define ZARRBRIDGE_CHANGE_H

#include "zarrbridge/node.h"
#include "zarrbridge/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About all calls that change nodes: they take turns under one lock for each hierarchy, whichever
   group of it the store was opened at (docs/writing.md tells where locks can be had). All give
   change errors; the texts below only tell what they mean in each case. The calls that take a node
   give ZB_ECONFLICT when it has been deleted, moved or made anew since it was opened. Any thread.
   Consolidated metadata in groups above is taken out before the change, and put back by
   zb_hierarchy_write_back, zb_hierarchy_flush or the end of the hierarchy. Groups that were missing
   stay when a call fails later. Texts are JSON; the bare tokens NaN and Infinity are refused in
   them (ZB_EINVAL). */

/* Creates a group, and groups at all ancestors that have no document. ZB_ECONFLICT when the node,
   or an array above it, exists. attributes: a JSON object as text, or NULL (ZB_EINVAL for anything
   else). Names are UTF-8 without control characters and backslashes, not of dots alone, and not
   reserved (zb_name_is_reserved); else ZB_EINVAL. */
ZB_API enum zb_code zb_group_create(zb_hierarchy *hierarchy, const char *path,
                                    const char *attributes, zb_node **out, zb_error *err);

/* Creates an array likewise. Documents are valid under 3.0 and 3.1; every codec is written in
   object form. ZB_EINVAL for a specification that makes no valid document, ZB_EUNSUPPORTED for
   codecs that are unknown. Chunks without a document that lie at the path are erased; nodes below
   it are ZB_ECONFLICT. */
ZB_API enum zb_code zb_array_create(zb_hierarchy *hierarchy, const char *path,
                                    const zb_array_spec *spec, zb_node **out, zb_error *err);

/* *is: a new array of this specification, made in place of the array, would have its shape, type,
   fill value, chunks, and codecs. Attributes and dimension names do not count. ZB_EINVAL for a
   group; errors of the specification as zb_array_create. Any thread. */
ZB_API enum zb_code zb_array_is_as(const zb_node *array, const zb_array_spec *spec, bool *is,
                                   zb_error *err);

/* Sets (value: JSON text) or removes (NULL; ZB_ENOTFOUND when there is none) one attribute. The
   others keep their order and text; so do members of the document that are unknown here. The change
   is made to the document as it is in the store now. *out is the changed node. ZB_EINVAL for a
   value that is not JSON. */
ZB_API enum zb_code zb_node_set_attribute(const zb_node *node, const char *name, const char *value,
                                          zb_node **out, zb_error *err);

/* One change of an attribute: sets it (value: JSON text) or removes it (NULL). `checked`: only
   while its value is `former`, JSON text as zb_json_print makes it (NULL: while there is none);
   else ZB_ECONFLICT. */
typedef struct zb_attribute_edit {
    const char *name, *value;
    bool checked;
    const char *former;
} zb_attribute_edit;

/* Makes many such changes in one change of the document, in their order: an attribute that is
   removed and set again goes to the end. `former` is compared before the first. All are made, or
   none; ZB_EINVAL without any. */
ZB_API enum zb_code zb_node_set_attributes(const zb_node *node, const zb_attribute_edit *edits,
                                           size_t count, zb_node **out, zb_error *err);

/* Sets (entries may be NULL) or removes (names NULL) the names of an array's dimensions,
   likewise. A name that is the node's own already leaves what another program has made of it
   since. */
ZB_API enum zb_code zb_array_set_dimension_names(const zb_node *array, const char *const *names,
                                                 zb_node **out, zb_error *err);

/* Changes an array's shape, from the node's own to this one: ZB_ECONFLICT when the array has
   another shape by now, or another node is there. (Of several programs that append, each calls
   zb_array_append.) Chunks that lie beyond the new shape are erased; those cut by it are refilled
   with the fill value there, so that growing again does not bring old elements back. Growing clears
   elements that other programs have left there. When erasing or refilling fails, the array has the
   new shape already; resizing it again, also to the same shape, does the rest. Chunks that a writer
   still holds are not seen: flush first. ZB_EINVAL for a group; chunk errors of the chunks that are
   refilled. */
ZB_API enum zb_code zb_array_resize(const zb_node *array, const uint64_t *shape, zb_node **out,
                                    zb_error *err);

/* The same for an array that only grows: makes it at least as long as this shape. What other
   programs have made longer meanwhile stays so, and is no error. */
ZB_API enum zb_code zb_array_extend(const zb_node *array, const uint64_t *shape, zb_node **out,
                                    zb_error *err);

/* One array of an append. */
typedef struct zb_append {
    const zb_node *array;
    uint32_t dim;     /* the dimension along which it gets longer */
    const void *data; /* its new elements: `count` along dim, all along the others, as in zb_write;
                         NULL: they are fill values, until the caller writes them */
    zb_dtype dtype;
    const int64_t *strides; /* bytes, [ndim]; NULL for C order without gaps */
    const uint64_t *most;   /* [ndim] elements: the shape that it may not exceed; NULL: none */
} zb_append;

/* Makes arrays longer, all by the same number of elements along a dimension, and writes the new
   elements, in one lock scope: programs that append at once each get a place of their own, in any
   order, whatever length the nodes have that they hold. Several arrays (data and their time) are
   those of one store, and grow together: *start, the place of the new elements in all of them, is
   the length of the longest in the store, which a killed append may have left. `options` are those
   of the writers; NULL for the defaults. `grown` ([n], or NULL) gets the arrays as they are now,
   which the caller releases.

   Nobody else changes the hierarchy meanwhile. For data that take long to write, reserve the place
   (data: NULL), and write it by a writer of *grown; others may append behind it by then. A process
   that is killed leaves fill values in what it had reserved and not written.

   After an error the arrays are as before, or the message tells which one is longer. ZB_EINVAL for
   a count of 0, groups, arrays of two stores or named twice, dimensions that there are not, and a
   length beyond `most`; ZB_EUNSUPPORTED in a store without locks (S3), where one program alone may
   append, by zb_array_resize; errors of zb_array_resize and of zb_writer_write. */
ZB_API enum zb_code zb_array_append(const zb_append *appends, size_t n, uint64_t count,
                                    const zb_write_options *options, uint64_t *start,
                                    zb_node **grown, zb_error *err);

/* A hidden array belongs to one node, group or array, and is no node of the hierarchy: it holds
   what the owner's document cannot hold, as a large attribute. It lies right below its owner under
   a name that is "__attribute." and 16 hexadecimal digits: no listing, walk or block of
   consolidated metadata has it. It is copied, moved, deleted and verified with its owner.

   Creates one. ZB_EINVAL for another name; ZB_ECONFLICT when it exists. Otherwise as
   zb_array_create. */
ZB_API enum zb_code zb_hidden_create(const zb_node *owner, const char *name,
                                     const zb_array_spec *spec, zb_node **out, zb_error *err);

/* Opens one, as zb_node_open. */
ZB_API enum zb_code zb_hidden_open(const zb_node *owner, const char *name, zb_node **out,
                                   zb_error *err);

/* Erases one; it need not be there. */
ZB_API enum zb_code zb_hidden_delete(const zb_node *owner, const char *name, zb_error *err);

/* Copies all of `from` to another node of version 3, which has none of their names. */
ZB_API enum zb_code zb_hidden_copy(const zb_node *from, const zb_node *to, zb_error *err);

/* Erases a node and all below it, also the remains of a killed deletion. ZB_ENOTFOUND when there is
   none. At the root, objects that belong to no node stay. */
ZB_API enum zb_code zb_node_delete(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* The same of a node that a program keeps at its path in another way, as HDF5's dimensions without
   a variable: names (moved.h) still lead there. */
ZB_API enum zb_code zb_node_withdraw(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Copies a node and all nodes below it to a path where there is none (ZB_ECONFLICT), in the same
   store or another; groups above are created. Documents and chunks are the same bytes. The node
   appears when all of it is there; after an error nothing of it stays, as far as it can be erased.
   One object after the other passes through memory (ZB_ELIMIT above shard_bytes). From a store that
   cannot list come the nodes that consolidated metadata name, or an array, and the chunks of their
   grids, several at once; ZB_EUNSUPPORTED without such metadata, for nodes that cannot be read, and
   for more than a million chunks of an array.
   Nodes of version 2 become nodes of version 3 on the way: their chunks are decoded and encoded
   (document errors and chunk errors), and a copy that has such nodes appears node by node, unless
   the store is a new directory (zb_hierarchy_create), which appears as a whole. */
ZB_API enum zb_code zb_node_copy(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                                 const char *to_path, zb_error *err);

/* Changes that a copy makes. All zeros: none. */
typedef struct zb_copy_options {
    bool reshards; /* arrays get other shards, or none */
    uint32_t ndim; /* those of so many dimensions alone; 0: all, which lose their shards */
    const uint64_t *shard_shape; /* [ndim]: extents of shards, made larger to whole inner chunks */
    /* Sets the extents of an array's shards, in place of those above; false: it stays as it is.
       NULL: the same for all. */
    bool (*choose)(void *context, const zb_node *array, uint64_t *shape);
    /* Is told which way the chunks of each array went, and why not a shorter one; NULL: nobody. */
    void (*tell)(void *context, const char *path, const char *way);
    void *context; /* of both */
} zb_copy_options;

/* zb_node_copy with changes. Arrays keep their inner chunks: these move as they are encoded, and
   what carries a checksum is compared with it (zarrbridge/encoded.h). An array with shards as they
   are wanted is copied as it is, and so are all other nodes; a copy with changes appears as one of
   version 2 does. ZB_EUNSUPPORTED for arrays whose chunks are no inner chunks of their own
   (zb_chain_of); ZB_EINVAL for extents of 0. options: NULL for none. */
ZB_API enum zb_code zb_node_copy_as(zb_hierarchy *from, const char *from_path, zb_hierarchy *to,
                                    const char *to_path, const zb_copy_options *options,
                                    zb_error *err);

/* Gives the group at `path` consolidated metadata: a copy, in its own document, of the documents of
   all nodes below it, as zarr-python 3 writes it, so that readers that cannot list (web servers)
   find them, with one request. From then on it is kept up to date (docs/writing.md, "Consolidated
   metadata"). A block that was there is made anew. Documents that are not JSON are left out.
   ZB_EINVAL for an array; ZB_EUNSUPPORTED for a group of version 2, and where the store cannot
   list; ZB_ELIMIT above consolidated_bytes, with the old document in place; change errors. */
ZB_API enum zb_code zb_group_consolidate(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Flushes a store, and packs all of its objects into a zip archive, which zb_hierarchy_open reads.
   They are stored as they are. The archive replaces the file at `path` in one step, and is durable
   then; after an error nothing has changed. No other writer may use the store meanwhile. Errors of
   reading; ZB_EIO; ZB_ENOMEM. */
ZB_API enum zb_code zb_hierarchy_pack(zb_hierarchy *hierarchy, const char *path, zb_error *err);

/* Moves a node with all below it within a store. Directories are renamed, in one step and with all
   that lies in them, whoever writes there meanwhile; files at the target stay there. ZB_ECONFLICT
   where one is in the way, ZB_EUNSUPPORTED where a directory cannot be renamed. Where a store
   renames nothing (in memory, in S3), and behind a symbolic link, the node is copied and the source
   deleted: what others write meanwhile is not in the copy, and a process that is killed between
   leaves both. */
ZB_API enum zb_code zb_node_move(zb_hierarchy *hierarchy, const char *from, const char *to,
                                 zb_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * The HDF5 extension: what HDF5 knows of a node and Zarr has no word for.
 *
 * It is one attribute of the node, `_hdf5`: a text that holds a JSON object, so that programs which
 * copy attributes copy a string. Zarr readers may ignore it. docs/hdf5-extension.md describes the
 * format; this header has its members in one table, and the rules by which they change, merge and
 * go with copies. The values of the members belong to those who use them.
 *
 * A text of another version, or one that is no such object, is not ours: it is an attribute as any
 * other, and nothing is kept in it. Members that are not in the table stay as they are.
 */
#ifndef ZARRBRIDGE_HDF5_EXTENSION_H
#define ZARRBRIDGE_HDF5_EXTENSION_H

#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the attribute. */
#define ZB_HDF5_EXTENSION "_hdf5"

enum zb_hdf5_member {
    /* Of datasets */
    ZB_HDF5_TYPE,     /* the HDF5 type, where the Zarr type does not tell it */
    ZB_HDF5_SPACE,    /* the dataspace, where the shape does not tell it */
    ZB_HDF5_MAXSHAPE, /* the maximum shape */
    ZB_HDF5_NAMED,    /* the name (moved.h) of the committed datatype that it was made with */
    ZB_HDF5_SCALES,   /* the attributes of dimension scales */
    /* Of committed datatypes */
    ZB_HDF5_DATATYPE, /* the type */
    /* Of groups */
    ZB_HDF5_LINKS,         /* soft, external and further hard links: an entry for each */
    ZB_HDF5_ORDER,         /* the order in which links were made */
    ZB_HDF5_ORDER_INDEXED, /* whether that order is indexed */
    ZB_HDF5_DIMENSIONS,    /* datasets of dimensions that are no arrays */
    ZB_HDF5_MOVED,         /* where nodes are now that are called by other names (moved.h) */
    ZB_HDF5_MOVING,        /* the node that is being moved, or was when a program was killed */
    /* Of all objects */
    ZB_HDF5_NAMES,          /* the places of further hard links to the node */
    ZB_HDF5_CREATION,       /* properties of the creation list */
    ZB_HDF5_COMMENT,        /* the comment */
    ZB_HDF5_REFERENCES,     /* references that a program has added to the count */
    ZB_HDF5_ATTRIBUTE_LIST, /* the order in which attributes were made */
    ZB_HDF5_ATTRIBUTES,     /* what JSON does not tell of an attribute: an entry for each */
    /* Of hidden arrays */
    ZB_HDF5_NULL_TEXTS, /* which texts of a large attribute are null pointers */
    ZB_HDF5_MEMBERS     /* how many there are */
};

/* Its name in the object. */
ZB_API const char *zb_hdf5_member_name(enum zb_hdf5_member member);

/* The member of that name; ZB_HDF5_MEMBERS for one that is not in the table. */
ZB_API enum zb_hdf5_member zb_hdf5_member_called(const char *name);

/* A parsed extension, which does not change. */
typedef struct zb_hdf5_extension zb_hdf5_extension;

/* Parses the value of the attribute (NULL: there is none). *out is NULL when it is not ours. Freed
   with zb_hdf5_extension_free (NULL is allowed). ZB_ENOMEM. */
ZB_API enum zb_code zb_hdf5_extension_parse(const zb_json *value, zb_hdf5_extension **out,
                                            zb_error *err);

/* That of a node likewise. */
ZB_API enum zb_code zb_hdf5_extension_of(const zb_node *node, zb_hdf5_extension **out,
                                         zb_error *err);
ZB_API void zb_hdf5_extension_free(zb_hdf5_extension *extension);

/* A second owner of the same; NULL for NULL, and when memory runs out. */
ZB_API zb_hdf5_extension *zb_hdf5_extension_copy(const zb_hdf5_extension *extension);

/* A member, of the kind of JSON that the table says, or NULL. Lives as long as the extension, for
   which NULL is allowed. */
ZB_API const zb_json *zb_hdf5_extension_get(const zb_hdf5_extension *extension,
                                            enum zb_hdf5_member member);

/* The entry of an attribute likewise. */
ZB_API const zb_json *zb_hdf5_extension_entry(const zb_hdf5_extension *extension,
                                              const char *attribute);

/* Whether the node, or one of its attributes, was made with a committed datatype; and the name of
   that in an entry. */
ZB_API bool zb_hdf5_extension_uses_types(const zb_hdf5_extension *extension);
ZB_API const zb_json *zb_hdf5_entry_named(const zb_json *entry);

/* An entry with another such name, as JSON text (malloc'ed); NULL when memory runs out. */
ZB_API char *zb_hdf5_entry_rename(const zb_json *entry, const char *name);

/* Whether a type, or something within it, is a reference: in an entry, or as a member. */
ZB_API bool zb_hdf5_refers(const zb_json *type);

/* ---- Changes -------------------------------------------------------------------------------- */

/* A member is set (value) or removed (NULL); with `entry`, that one of its entries alone. A change
   of a whole member counts before those of its entries. */
typedef struct zb_hdf5_change {
    enum zb_hdf5_member member;
    const char *entry;
    const zb_json *value;
    const char *json; /* the same as a text, of a member without entries of which the last change
                         counts; else NULL */
} zb_hdf5_change;

/* Whether the node will have an attribute of that name. */
typedef bool (*zb_hdf5_has_fn)(void *context, const char *attribute);

/* The attribute's value after changes, as JSON text (malloc'ed): NULL when no member is left.

   `now` is the extension as it is stored (NULL: none), `base` the one that the changes were made
   to: where both differ, another program has changed it since, and lists of names have what each of
   both has added, and not what one of them has removed. Of other members, and of entries, the last
   change counts. Entries of attributes that `has` (NULL: all) denies are left out. ZB_ENOMEM. */
ZB_API enum zb_code zb_hdf5_extension_change(const zb_hdf5_extension *base,
                                             const zb_hdf5_extension *now,
                                             const zb_hdf5_change *changes, size_t count,
                                             zb_hdf5_has_fn has, void *context, char **out,
                                             zb_error *err);

/* What two changes of a member of entries (scales, dimensions) have made of it, as JSON text
   (malloc'ed): both began with `base`, and where both have changed one value ours counts. All may
   be NULL. For a program whose own values are not those that the store has now. ZB_ENOMEM. */
ZB_API enum zb_code zb_hdf5_entries_merge(const zb_json *base, const zb_json *ours,
                                          const zb_json *theirs, char **out, zb_error *err);

/* ---- Copies --------------------------------------------------------------------------------- */

/* What is true of another node with the same elements, as the attribute's value (malloc'ed JSON
   text; NULL: nothing): types, creation lists, comments; the maximum shape, for one of the same
   shape; entries of attributes that it `has`. Not links, orders, scales and references, which are
   the node's own. ZB_ENOMEM. */
ZB_API enum zb_code zb_hdf5_extension_for_copies(const zb_hdf5_extension *extension,
                                                 bool same_shape, zb_hdf5_has_fn has, void *context,
                                                 char **out, zb_error *err);

/* An extension with what zb_hdf5_extension_for_copies gave of another node (both may be NULL).
   Where `follows`, that takes the place of what it says of the same kind, but for entries of
   attributes that is_own confirms; otherwise what it says already stays. */
ZB_API enum zb_code zb_hdf5_extension_join(const zb_hdf5_extension *own,
                                           const zb_hdf5_extension *copied, bool follows,
                                           zb_hdf5_has_fn is_own, void *context, char **out,
                                           zb_error *err);

/* ---- Links to a node ------------------------------------------------------------------------ */

/* Calls fn for each path of the store at which a further hard link to the node is said to be, or to
   which one in the node leads, and which would be lost when the node moves: no group above keeps
   track of both ends (moved.h). ZB_ENOMEM, and the errors of reading groups above. */
typedef void (*zb_hdf5_path_fn)(void *context, const char *path);
ZB_API enum zb_code zb_hdf5_lost_links(const zb_node *node, zb_hdf5_path_fn fn, void *context,
                                       zb_error *err);

/* The path that a relative one ("../g/d") means, seen from the node at `base`: malloc'ed. NULL for
   a text that leads above the root, and when memory runs out. */
ZB_API char *zb_path_resolve(const char *base, const char *text);

#ifdef __cplusplus
}
#endif
#endif

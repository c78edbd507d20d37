/* SPDX-License-Identifier: MIT */
/*
 * The object that HDF5 holds behind an id of ours. The struct serves two kinds: those of a Zarr
 * store, and, with HDF5_VOL_CONNECTOR=zarr, those of every other file, which are the native
 * connector's (`under`) in our wrapping. Each callback begins with the line that passes the latter
 * on.
 *
 * Life of a Zarr object: vol_object_new ... the class's close callback ... vol_object_free. HDF5
 * removes the id only after close has returned and may ask for the dying object once more
 * meanwhile, hence the order in vol_object_free.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_OBJECT_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_OBJECT_H

#include "file/handle.h"
#include "hdf5/library.h"

typedef struct vol_object {
    void *zero;     /* always NULL: native code may look at a dying object as its own H5O_loc_t, and
                       takes a NULL file there as "nothing to do" */
    uint64_t magic; /* VOL_MAGIC: some tools hand us a native object */
    H5I_type_t type;
    h5_lib *lib;
    void *under;        /* the native object when passing through, else NULL */
    vol_handle *handle; /* Zarr: a counted reference */
    vol_file *file;     /* Zarr: the handle's */
    vol_node *node;     /* Zarr: the object, or the attribute's owner; file owns it */
    hid_t dapl;         /* Zarr datasets: a copy of the access list; 0 for the default one. Owned */
    /* Zarr attributes only; see attributes/attributes.h: */
    char *attr;                   /* the name */
    bool attr_deleted;            /* there may be another one of the name */
    size_t attr_count;            /* elements, when it was opened */
    struct vol_object *next_attr; /* of the node, see vol_node_attr_ids */
} vol_object;

#define VOL_MAGIC UINT64_C(0x7a61727262726467) /* "zarrbrdg" */

/* Opens a node through a handle. Pushes an error and returns NULL when memory runs out. */
vol_object *vol_object_new(vol_handle *handle, vol_node *node, H5I_type_t type);

/* vol_object_new with the type that fits the node. */
vol_object *vol_object_of_node(vol_handle *handle, vol_node *node);

/* The open ids of a node's attributes, a list by next_attr. */
vol_object *vol_node_attr_ids(const vol_node *node);

/* Whether the object's file may be changed and its node is still there. Pushes an error when not;
   `what` is e.g. "create a group". From then on the changes are those of the object's handle. */
bool vol_may_write(const vol_object *object, const char *what);

/* The same for a change of the hierarchy or of a document, which of several ranks the first makes
   (ranks/collective.h). */
bool vol_may_change(const vol_object *object, const char *what);

/* The same for a new node. One without a name is in memory until it is linked, on each rank. */
bool vol_may_create(const vol_object *object, const char *name, const char *what);

/* Wraps a native object. NULL without memory, and the object stays the caller's. */
vol_object *vol_object_wrap(h5_lib *lib, H5I_type_t type, void *under);

/* The same for one that was just opened, and is closed where it cannot be wrapped. NULL when
   `under` is NULL, so that failures pass through. */
vol_object *vol_object_pass(h5_lib *lib, H5I_type_t type, void *under);

/* Closes a native object. An error that was pushed stays. */
void vol_native_close(h5_lib *lib, void *under, H5I_type_t type, hid_t dxpl);

void vol_object_free(vol_object *object);

/* The end of a close callback that was passed on, and what it returns: an object that the native
   connector could not close is kept, as HDF5 keeps its id. */
herr_t vol_object_closed(vol_object *object, herr_t result);

/* The id for a node that an iteration hands to its callback; the caller drops it with
   vol_release_id. */
hid_t vol_node_register(vol_handle *handle, vol_node *node);

/* Whether p is an object of ours. */
bool vol_is_ours(const void *p);

void vol_token_set(H5O_token_t *token, uint64_t value);
uint64_t vol_token_get(const H5O_token_t *token);

/* Copies text into HDF5's (buffer, size) with truncation; *length gets the full length. */
void vol_copy_name(const char *text, char *buffer, size_t size, size_t *length);

/* The character set of the name of a link or an attribute, as its letters tell. */
H5T_cset_t vol_charset_of(const char *name);

/* Whether a program names another one that such a name may have, which has to be kept: letters that
   are not ASCII are UTF-8, whatever it says. */
bool vol_charset_is_needed(const char *name, H5T_cset_t cset);

#endif

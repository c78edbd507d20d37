/* SPDX-License-Identifier: MIT */
/*
 * Properties of creation lists as JSON, for the member that creation_list.h describes: those that
 * are one or two numbers, filters, and shared messages.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H
#define ZARRBRIDGE_HDF5_VOL_CREATE_LIST_PROPERTIES_H

#include "hdf5/library.h"

#include "zarrbridge/zarrbridge.h"

/* ---- Numbers ---- */

/* Lists of datasets are one kind for each layout (VOL_LIST_DATASET + H5D_layout_t), which decides
   when chunks are allocated. */
enum vol_list_kind {
    VOL_LIST_DATATYPE,
    VOL_LIST_GROUP,
    VOL_LIST_FILE,
    VOL_LIST_DATASET,
    VOL_LIST_KINDS = VOL_LIST_DATASET + H5D_NLAYOUTS
};

/* The list of a class that a program would get of a node that keeps nothing of its own; -1 on
   failure. */
hid_t vol_list_bare(h5_lib *lib, hid_t list_class);

/* The numbers of a list, for memcmp, too. Those that differ from a bare list's are kept. */
#define VOL_LIST_PROPERTIES 15
typedef struct vol_list_numbers {
    uint64_t kind; /* enum vol_list_kind */
    uint64_t differs[VOL_LIST_PROPERTIES];
    uint64_t value[VOL_LIST_PROPERTIES][2];
} vol_list_numbers;

enum zb_code vol_list_properties_get(h5_lib *lib, hid_t list, enum vol_list_kind kind,
                                     vol_list_numbers *out, zb_error *err);

/* Writes those that differ as members of an object; *any becomes true when there is one. */
void vol_list_properties_print(const vol_list_numbers *numbers, zb_json_writer *out, bool *any);

/* Sets those of the object on a list. What has no value of the property is left alone. */
void vol_list_properties_set(h5_lib *lib, hid_t list, const zb_json *object);

/* ---- Filters: [[number, flags, [value, ...]], ...] ---- */

#define VOL_LIST_FILTERS "filters" /* the member */

/* Whether a dataset of that type shows the filters of its list as they are (vol_filters_add),
   without the member. */
bool vol_list_filters_are_shown(h5_lib *lib, hid_t dcpl, zb_dtype dtype);

/* Writes the filters of a list as a member of an object; *any becomes true when there is one.
   False, and nothing, when one has more than VOL_FILTER_VALUES values. */
bool vol_list_filters_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any);

/* Adds all filters of the member, which is not trusted, to a list; or none of them (false). */
bool vol_list_filters_add(h5_lib *lib, hid_t list, const zb_json *kept);

/* ---- Shared messages ---- */

/*
 * The indexes of shared messages that a file is created with (H5Pset_shared_mesg_index), as the
 * member "messages" of an object: a list of [kinds of messages, least size in bytes].
 */

/* Writes the member for a file's creation list, where it has such; *any becomes true then. */
void vol_list_messages_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any);

/* Sets what the member of `object` says, where that is of this form. May leave errors on the
   stack. */
void vol_list_messages_set(h5_lib *lib, hid_t list, const zb_json *object);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The numbers that netCDF gives to dimensions.
 *
 *     _Netcdf4Dimid          of a scale, its number
 *     _Netcdf4Coordinates    of a dataset, those of its dimensions; netCDF believes them before the
 *                            scales that are attached
 *
 * While it opens a file netCDF asks each scale for its number, and gives the next one to a scale
 * that has none. Numbers that it stores for dimensions and variables that it makes would be those
 * of others at the next opening; so as soon as one is stored, all scales get the one that netCDF
 * knows them by.
 *
 * Two programs that define dimensions at the same time give one number twice. The scales that
 * datasets have are right, and numbers that differ from them, or that two scales have, are not: all
 * get others then, which netCDF is shown, and which the next file that it writes stores.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_NETCDF_NETCDF_NUMBERS_H
#define ZARRBRIDGE_HDF5_VOL_NETCDF_NETCDF_NUMBERS_H

#include "attributes/attribute_list.h"
#include "tree/tree.h"

/* Before an attribute of that name is looked for in a node's list: shows netCDF numbers that fit.
   The first time for a file it opens all datasets, as netCDF does. */
void vol_numbers_complete(vol_attrs *attrs, vol_node *node, const char *name);

/* ---- For store_numbers.c ---- */

/* Whether netCDF was told numbers since the file was opened. */
bool vol_numbers_are_settled(const vol_file *file);

/* Whether netCDF is shown other numbers for this node than its document has; and: no longer. */
bool vol_numbers_differ(const vol_node *node);
void vol_numbers_agree(vol_node *node);

/* True: a scale whose document is to get this number. */
bool vol_numbers_to_store(vol_node *node, int *out);

/* The number of the scale that a dimension has; of one that has none, one that is none. */
uint64_t vol_numbers_of(vol_node *dataset, uint32_t d);

/* Whether all dimensions have a scale. netCDF makes up dimensions for a dataset that has neither
   scales nor numbers. */
bool vol_numbers_have_all(vol_node *dataset);

#endif

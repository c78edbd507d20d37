/* SPDX-License-Identifier: MIT */
/* Deleting, renaming and copying stores as a whole. */
#ifndef ZARR3_MANAGE_H
#define ZARR3_MANAGE_H

#include <string>

#include "compat.h"

namespace zarr3 {

/* Only nodes of Zarr version 3, with all below them. Other files in a store's directory stay. Does
   nothing when GDAL clears the way for a new raster, see manage.cpp. */
CPLErr delete_dataset(const char *name);

/* What tells GDAL's own deletions: to be called for each name that is identified as ours, and each
   time that GDAL asks for the function above. */
void note_identified(const char *name);
void note_asked_to_delete();

/* A whole store to another place, or a node within its hierarchy. Nothing is overwritten. */
CPLErr rename_dataset(const char *new_name, const char *old_name);
CPLErr copy_dataset(const char *new_name, const char *old_name);

/* Files that GDAL keeps beside a store: x.zarr.aux.xml, x.zarr.<array>.ovr. */
void remove_sidecars(const std::string &root);

/* Removes the directory of a store whose nodes have been deleted. Returns the name of a file that
   is the user's and keeps the directory alive, or "". */
std::string remove_empty(const std::string &directory);

/* Makes all that has been written durable, on the whole file system of a local directory: the
   documents of a store and the directories that hold its chunks. False with errno. */
bool sync_directory(const std::string &directory);

} // namespace zarr3

#endif

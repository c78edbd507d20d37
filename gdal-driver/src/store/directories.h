/* SPDX-License-Identifier: MIT */
/* Files and directories of a store besides its nodes, in its directory and beside it. */
#ifndef ZARR3_DIRECTORIES_H
#define ZARR3_DIRECTORIES_H

#include <string>
#include <vector>

namespace zarr3 {

/* Files that GDAL keeps beside a store: x.zarr.aux.xml, x.zarr.<array>.ovr, x.zarr.gmac (copies of
   arrays, by GDALMDArray::Cache()). Each as what follows the root's name in its own. */
std::vector<std::string> sidecars_of(const std::string &root);
void remove_sidecars(const std::string &root);

/* What a directory or node that is made beside its place has behind its name, and no other one of
   this process or another: "<process>-<number>.zarr3-new" (zb_aside_name). */
std::string staging_suffix();
bool is_staging(const std::string &name);

/* Removes the directory of a store whose nodes have been deleted. Returns the name of a file that
   is the user's and keeps the directory alive, or "". */
std::string remove_empty(const std::string &directory);

/* Makes all that has been written durable, on the whole file system of a local directory: the
   documents of a store and the directories that hold its chunks. False with errno. */
bool sync_directory(const std::string &directory);

} // namespace zarr3

#endif

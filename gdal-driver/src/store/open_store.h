/* SPDX-License-Identifier: MIT */
/* Stores on local directories and on GDAL's virtual file systems. */
#ifndef ZARR3_OPEN_STORE_H
#define ZARR3_OPEN_STORE_H

#include "cpl_error.h"
#include "store/node.h"
#include "zarrbridge/conventions.h"

namespace zarr3 {

/* Opens the store whose root is the directory. With `create` it is to be filled: a directory is
   made. */
enum zb_code open_store(const std::string &root, Hierarchy *hierarchy, zb_error *err,
                        bool create = false);

/* What a new store, or a node in one, finds at its place: zb_destination_look, also for GDAL's own
   file systems. */
enum zb_code look_at_place(const std::string &root, const std::string &node, enum zb_place *found,
                           zb_error *err);

/* Local paths, and GDAL's files in memory, where a listing costs no requests. */
bool is_local_place(const std::string &root);

/* Those, and stores in S3 that are reached by the core's own requests. */
bool is_writable_place(const std::string &root);

/* The same; a virtual path that the core's requests reach becomes its URL. */
bool find_writable_place(std::string *root);

/* A path that the operating system knows: neither a URL nor one of GDAL's virtual ones. */
bool is_on_disk(const std::string &root);

/* A local path, or one in memory, for which a new store is a zip archive, made as a whole and
   committed when it is closed. */
bool becomes_archive(const std::string &root);

/* The path of an archive that GDAL's name for the whole of it stands for: x.zip for /vsizip/x.zip
   and /vsizip/{x.zip}, x.ozx for /vsizip/{x.ozx}. All else as it is, paths in archives included. */
std::string archive_of(const std::string &path);

/* The place of the first slash, at `from` or behind it, after a name as archives have it
   ("x.zarr.zip/tas"); npos without one. No file is looked at. */
size_t archive_end(const std::string &path, size_t from);

/* Takes GDAL's name for a folder in an archive that is not there yet, /vsizip/x.zip/folder,
   apart. */
bool split_new_archive(const std::string &path, std::string *archive, std::string *folder);

/* Such a path, or that of an archive that is there, also on a server. */
bool is_archive(const std::string &root);

/* Splits the path of a node in an archive that is there, on disk or in memory ("x.zarr.zip/tas").
   False, with nothing changed, for other paths. */
bool split_archive(std::string *path, std::string *node);

/* True for such a path that is there and has a store in it. */
bool is_zarr_archive(const std::string &path);

/* What messages say of other places. */
constexpr char kWritablePlaces[] =
    "stores are written to local directories, to new zip archives, to /vsimem/, and to S3 and "
    "Azure by s3:// names and az:// names; in names of /vsizip/, archives that are not called "
    "*.zip stand in braces: "
    "/vsizip/{x.ozx}";

/* GDAL_NUM_THREADS for the core, unless its own variable is set; before its first use. */
void adopt_thread_count();

} // namespace zarr3

#endif

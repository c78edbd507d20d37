/* SPDX-License-Identifier: MIT */
/*
 * Zip archives on GDAL's virtual file systems, by their own names: /vsimem/x.zarr.zip,
 * /vsicurl/https://host/x.zarr.zip; and folders in archives as GDAL enters them, /vsizip/x.zip/a.
 * The core reads both as it reads local archives. Writers that change an object of an archive add
 * another entry of its name (zarr-python's ZipStore does), and the last one counts: GDAL's /vsizip/
 * would take the first.
 */
#ifndef ZARR3_VSI_ARCHIVE_H
#define ZARR3_VSI_ARCHIVE_H

#include <string>

#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/store.h"

namespace zarr3 {

/* Is the path named as archives are, and leads to no directory? On a server the name alone
   tells. */
bool names_vsi_archive(const std::string &path);

/* The same, of a place where new ones can be made: GDAL's files in memory. */
bool names_memory_archive(const std::string &path);

/* The store in an archive that is there. */
enum zb_code open_vsi_archive(const std::string &path, zb_store **out, zb_error *err);

/* Takes a path below /vsizip/ apart as GDAL does: the archive's own path, and what follows. False
   when it names no archive that is there. */
bool split_vsizip_path(const std::string &path, std::string *archive, std::string *inside);

/* The store in a folder of an archive, by what such a path says; `path` names it in messages. */
enum zb_code open_vsizip_folder(const std::string &archive, const std::string &folder,
                                const std::string &path, zb_store **out, zb_error *err);

/* A new archive in memory. Its objects are files in a directory beside its place until it is
   committed, when what is there gives way to it. */
enum zb_code create_memory_archive(const std::string &path, zb_hierarchy **out, zb_error *err);

/* What is at such a path: ZB_PLACE_EMPTY also for an empty file, which programs make to have a name
   for themselves; ZB_PLACE_NODE for an archive whose root is a node. */
enum zb_place look_at_vsi_archive(const std::string &path);

} // namespace zarr3

#endif

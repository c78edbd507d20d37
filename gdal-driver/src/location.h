/* SPDX-License-Identifier: MIT */
/*
 * Connection strings: what of a name is a directory, what a node inside it, what an index.
 *
 *     /data/x.zarr                        a hierarchy, or any group or array inside one
 *     /data/x.zarr/zarr.json              the same, by its document
 *     ZARR3:/data/x.zarr                  the same, for names that GDAL cannot stat (/vsicurl/)
 *     ZARR3:"/data/x.zarr":/group/array   a node inside
 *     ZARR3:/data/x.zarr:/group/array     the same without quotes
 *     ZARR3:"/data/x.zarr":/array:3:0     one slice: an index for each dimension that is neither
 *                                         rows nor columns
 */
#ifndef ZARR3_LOCATION_H
#define ZARR3_LOCATION_H

#include <cstdint>
#include <string>
#include <vector>

namespace zarr3 {

struct Location {
    std::string directory;         /* as given, without zarr.json and without a slash at its end */
    std::string given;             /* the same with its zarr.json; climbing leaves it alone */
    std::string node;              /* below directory; "" for what directory itself is */
    std::vector<uint64_t> indices; /* empty, or the slice */
};

bool has_prefix(const char *name);

/* Where the quoted path of a prefixed name ends: the place of the closing quote, or npos when the
   name has no quotes or they are not closed. */
size_t closing_quote(const std::string &name);

/* Takes apart any of the forms above; false when a prefixed name is malformed. */
bool parse_location(const char *name, Location *location);

/* ZARR3:"directory":/node:i:j */
std::string subdataset_name(const std::string &directory, const std::string &node,
                            const std::vector<uint64_t> &indices);

/* Directories up to the root of the hierarchy are those that hold a zarr.json themselves. Moves
   from location->directory as far up as that holds and puts the names passed before ->node, so that
   the groups above an array and the arrays beside it can be asked. */
void climb_to_root(Location *location);

/* The path of a file in a directory, without a doubled slash. */
std::string file_in(const std::string &directory, const std::string &name);

} // namespace zarr3

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Connection strings: the directory, the node inside it and the indices that a name consists of.
 *
 *     /data/x.zarr                        a hierarchy, or any group or array inside one
 *     /data/x.zarr/zarr.json              the same, by its document; also .zgroup, .zarray and
 *                                         .zmetadata of version 2
 *     https://host/x.zarr                 the same on the network; also s3://, az://
 *     ZARR3:/data/x.zarr                  the same, for names that GDAL cannot stat (/vsicurl/)
 *     ZARR3:"/data/x.zarr":/group/array   a node inside
 *     ZARR3:/data/x.zarr:/group/array     the same without quotes
 *     ZARR3:"/data/x.zarr":/array:3:0     a slice: an index, or a range of them (3-5), for each
 *                                         dimension that is neither rows nor columns
 *     ZARR3:"/data/x.zarr":/t:3/          a node whose own name ends like a slice's; without the
 *                                         slash as well, unless there is a slice of that name
 *     ZARR3:"/data/x.zarr":/t/:3          and that slice
 */
#ifndef ZARR3_LOCATION_H
#define ZARR3_LOCATION_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/index_range.h"

namespace zarr3 {

struct Location {
    std::string directory;         /* as given, without a document and without a slash at its end */
    std::string given;             /* the same with its document; climbing leaves it alone */
    std::string node;              /* below directory; "" for what directory itself is */
    std::vector<std::string> tail; /* whole numbers, or two with a "-" between, after it, from its
                                      colons: the slice, or a part of the node's name */
    bool closed = false;           /* a slash says that all of the tail is the slice */
};

bool has_prefix(const char *name);

/* The end of the quoted path of a prefixed name: the place of the closing quote, or npos for a name
   without quotes or without a closing one. */
size_t closing_quote(const std::string &name);

/* Takes apart any of the forms above; false when a prefixed name is malformed. */
bool parse_location(const char *name, Location *location);

/* A name as messages show it: the URL in it without its query, any other as it is. */
std::string shown_name(const std::string &name);

/* node:i:j-k, or node/:i:j-k (`closed`); node/ for a node that would be taken for a slice. */
std::string slice_name(const std::string &node, const IndexRanges &indices, bool closed = false);

/* ZARR3:"directory":/slice_name */
std::string subdataset_name(const std::string &directory, const std::string &node,
                            const IndexRanges &indices, bool closed = false);

/* The number of a slice; false for a negative one and one that is none. */
bool parse_index(const std::string &text, uint64_t *index);

/* An index, or "first-last"; false also where the last is before the first. */
bool parse_range(const std::string &text, IndexRange *range);

/* Directories up to the root of the hierarchy are those that hold a zarr.json themselves. Moves
   from location->directory as far up as that holds and puts the names passed before ->node, so that
   the groups above an array and the arrays beside it can be asked. With `any`, for reading, groups
   of version 2 count as well: a change takes the lock of version 3's hierarchy. Names on the
   network are split by their words, and nothing is asked. */
void climb_to_root(Location *location, bool any = false);

/* True if the directory holds a document of version 2. */
bool holds_v2(const char *directory);

/* True if the path ends in the name of a document, of either version. */
bool names_document(const std::string &path);

/* The path of a file in a directory, without a doubled slash. */
std::string file_in(const std::string &directory, const std::string &name);

} // namespace zarr3

#endif

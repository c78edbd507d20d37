/* SPDX-License-Identifier: MIT */
/*
 * Files on servers, read through GDAL by one request.
 *
 * GDAL's usual way asks for a file's size (HEAD, or the first bytes) before it reads. But the
 * answer to a read tells the size and the time of the file as well, and GDAL keeps both. So we read
 * first, and look at what GDAL knows then. An answer that tells no size is not trusted: errors, cut
 * connections and servers without ranges are left to the usual way, which tells them apart.
 */
#ifndef ZARR3_VSI_WEB_H
#define ZARR3_VSI_WEB_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpl_vsi.h"

namespace zarr3 {

/* The most bytes that one such read asks for. */
constexpr size_t kWebRead = size_t{8} << 20;

/* True for a file on a server; `reaches`: also for one in an archive there, which GDAL may take for
   local. */
bool is_on_server(const std::string &path);
bool reaches_server(const std::string &path);

/* GDAL remembers a failed request as a file that does not exist: it asks again after this. */
void forget_answers(const std::string &path);

/* True for a path of which this is known to be one request. Not for names with a dot: GDAL looks
   for them in a listing of their directory, or asks whether they exist. */
bool can_read_at_once(const std::string &path);

/* What such a read has found. */
struct WebFile {
    VSILFILE *file = nullptr; /* open; the caller closes it */
    VSIStatBufL stat = {};
    size_t got = 0; /* bytes, as many as there are of those that were asked for */
};

/* Opens a file and reads [offset, offset + length) of it, as far as that is there. False, with
   nothing open, where GDAL knows the file's size already or the answer is not to be trusted: then
   the usual way is to be gone. `length` is at most kWebRead. */
bool read_at_once(const std::string &path, uint64_t offset, size_t length, void *buffer,
                  WebFile *out);

/* True for systems of a server's objects, which have no directories: GDAL invents one where it
   finds a longer key, which says nothing of this one. */
bool invents_directories(const std::string &path);

} // namespace zarr3

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Names that stand in a zip archive more than once. Writers that change an object of an archive add
 * another entry of its name (zarr-python's ZipStore does); the last entry counts, by the archive's
 * directory. GDAL's /vsizip/ takes the first one.
 */
#ifndef ZARR3_ZIP_REPEATS_H
#define ZARR3_ZIP_REPEATS_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/handles.h"
#include "cpl_vsi.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* An entry, by the archive's directory. */
struct ZipEntry {
    uint64_t header;      /* the place of its local header in the file */
    uint64_t stored_size; /* bytes in the archive */
    uint64_t size;        /* bytes without compression */
    uint32_t crc;         /* of those */
    uint16_t method, flags;
};

/* The repeated names of one version of an archive. */
struct ZipRepeats {
    uint64_t file_size = 0;
    int64_t file_time = 0;
    std::map<std::string, ZipEntry> last; /* of each repeated name */

    const ZipEntry *find(const std::string &name) const {
        const auto found = last.find(name);
        return found == last.end() ? nullptr : &found->second;
    }
};

/* Takes a path below /vsizip/ apart as GDAL does: the archive's own path, and what follows. False
   when it names no archive that is there. */
bool split_zip_path(const std::string &path, std::string *archive, std::string *inside);

/* The repeated names of an archive; remembered until the archive changes. */
enum zb_code find_zip_repeats(const std::string &archive, std::shared_ptr<const ZipRepeats> *out,
                              zb_error *err);

/* An entry that is open. */
struct ZipContent {
    ZipEntry entry = {};
    VSILFILE *file = nullptr;       /* the archive; the caller's */
    uint64_t base = 0;              /* the place of its first byte in there */
    bool is_packed = false;         /* it is compressed, and cannot be read yet */
    VsiMemory<unsigned char> bytes; /* of one that was compressed, all of it */
};

enum zb_code open_zip_entry(const std::string &archive, const ZipEntry &entry, ZipContent *out,
                            zb_error *err);

/* Reads, decompresses and checks all of an entry that is packed: not when it is opened, since who
   opens an object has to see its size first. One thread at a time. */
enum zb_code unpack_zip_entry(ZipContent *content, zb_error *err);

} // namespace zarr3

#endif

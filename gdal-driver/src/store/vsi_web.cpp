/* SPDX-License-Identifier: MIT */
#include "store/vsi_web.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cpl_conv.h"
#include "cpl_string.h"

namespace zarr3 {

bool invents_directories(const std::string &path) {
    static constexpr const char *kSystems[] = {"/vsis3", "/vsigs", "/vsiaz", "/vsioss",
                                               "/vsiswift"};
    return std::any_of(std::begin(kSystems), std::end(kSystems), [&](const char *system) {
        return STARTS_WITH(path.c_str(), system) &&
               (path[strlen(system)] == '/' || path[strlen(system)] == '_');
    });
}

bool is_on_server(const std::string &path) {
    return STARTS_WITH(path.c_str(), "/vsicurl/") || invents_directories(path);
}

bool reaches_server(const std::string &path) {
    if (!VSIIsLocal(path.c_str()))
        return true;
    for (size_t at = path.find("/vsi"); at != std::string::npos; at = path.find("/vsi", at + 1)) {
        if (is_on_server(path.substr(at)))
            return true;
    }
    return false;
}

void forget_answers(const std::string &path) {
    if (is_on_server(path))
        VSICurlPartialClearCache(path.c_str());
    else if (reaches_server(path)) /* of an archive, whose name nobody knows but GDAL */
        VSICurlClearCache();
}

/* A read goes through GDAL's cache of blocks: one that does not hold it makes many requests of
   it. */
static bool has_room_in_cache() {
    const char *size = CPLGetConfigOption("CPL_VSIL_CURL_CACHE_SIZE", nullptr);
    return size == nullptr || CPLAtoGIntBig(size) > static_cast<GIntBig>(2 * kWebRead);
}

bool can_read_at_once(const std::string &path) {
    return is_on_server(path) && strchr(CPLGetFilename(path.c_str()), '.') == nullptr &&
           has_room_in_cache();
}

/* What GDAL knows of a file without asking. */
static bool is_known(const std::string &path, VSIStatBufL *stat) {
    return VSIStatExL(path.c_str(), stat, VSI_STAT_CACHE_ONLY) == 0 && !VSI_ISDIR(stat->st_mode) &&
           stat->st_size > 0;
}

/* True if the bytes that came are all that the file has in the range. */
static bool is_complete(const WebFile &found, uint64_t offset, size_t length) {
    const uint64_t size = static_cast<uint64_t>(found.stat.st_size);
    const uint64_t there = offset < size ? size - offset : 0;
    return found.got == std::min<uint64_t>(there, length);
}

bool read_at_once(const std::string &path, uint64_t offset, size_t length, void *buffer,
                  WebFile *out) {
    if (is_known(path, &out->stat))
        return false;
    /* "NO" is the way on which GDAL does not ask for a name without a dot. */
    const CPLStringList options(CSLSetNameValue(nullptr, "DISABLE_READDIR_ON_OPEN", "NO"));
    out->file = VSIFOpenEx2L(path.c_str(), "rb", FALSE, options.List());
    if (out->file == nullptr)
        return false;
    if (VSIFSeekL(out->file, offset, SEEK_SET) == 0)
        out->got = VSIFReadL(buffer, 1, length, out->file);
    if (out->got > 0 && is_known(path, &out->stat) && is_complete(*out, offset, length))
        return true;
    VSIFCloseL(out->file);
    /* GDAL has noted any failure as a file that does not exist, and bytes of a cut reply as its. */
    VSICurlPartialClearCache(path.c_str());
    *out = WebFile();
    return false;
}

} // namespace zarr3

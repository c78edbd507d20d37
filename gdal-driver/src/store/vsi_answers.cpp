/* SPDX-License-Identifier: MIT */
/* What GDAL's file systems answer: see vsi_answers.h. */
#include "store/vsi_answers.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include "cpl_error.h"
#include "cpl_vsi_error.h"
#include "store/vsi_web.h"

namespace zarr3 {

namespace {

/* What errno says of a file that is not there. 0: an archive's directory has no such entry. */
bool is_absence(int code) {
    return code == 0 || code == ENOENT || code == ENOTDIR;
}

/* A file that is no gzip stream is not there for GDAL. */
bool hides_a_file(const std::string &path) {
    static const std::string kPrefix = "/vsigzip/";
    VSIStatBufL stat;
    return path.compare(0, kPrefix.size(), kPrefix) == 0 &&
           VSIStatExL(path.c_str() + kPrefix.size(), &stat, VSI_STAT_EXISTS_FLAG) == 0;
}

/* The meaning of a failed stat: the object is absent, or it could not be asked for. What fails must
   not look like a missing chunk, which would read as fill. Local systems tell by errno, in which
   libcurl leaves anything. A server's 404 is sure; without a reply there is a warning at most, and
   none the next time, as GDAL has noted that there is no such file. */
bool is_absent(const std::string &path, int code) {
    const VSIErrorNum vsi = VSIGetLastErrorNo();
    if (vsi == VSIE_HttpError)
        return strstr(VSIGetLastErrorMsg(), "404") != nullptr;
    if (vsi != VSIE_None && vsi != VSIE_FileError)
        return vsi == VSIE_AWSObjectNotFound;
    if (is_on_server(path))
        return false;
    if (reaches_server(path))
        return CPLGetLastErrorType() == CE_None;
    return is_absence(code) && CPLGetLastErrorType() != CE_Failure && !hides_a_file(path);
}

/* For messages. GDAL's own words of a server that does not answer may hold the secrets of its
   address. */
const char *likely_reason(const std::string &path, int code) {
    if (reaches_server(path))
        return "its server does not answer as it should";
    if (!is_absence(code))
        return strerror(code);
    return hides_a_file(path) ? "it is no gzip file" : "GDAL gives no reason";
}

enum zb_code fail_to_open(const std::string &path, int code, const std::string &text,
                          zb_error *err) {
    return zb_fail(err, ZB_EIO, "%s cannot be opened: %s", path.c_str(),
                   text.empty() ? likely_reason(path, code) : text.c_str());
}

enum zb_code ask_for(const std::string &path, VSIStatBufL *stat, zb_error *err) {
    VSIErrorReset();
    CPLErrorReset();
    errno = 0;
    if (VSIStatExL(path.c_str(), stat,
                   VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG | VSI_STAT_SIZE_FLAG |
                       VSI_STAT_SET_ERROR_FLAG) == 0)
        return ZB_OK;
    const int code = errno;
    if (is_absent(path, code))
        return zb_fail(err, ZB_ENOTFOUND, "%s does not exist", path.c_str());
    forget_answers(path); /* GDAL would never ask again */
    return fail_to_open(path, code, VSIGetLastErrorMsg(), err);
}

} // namespace

void fill_info(const VSIStatBufL &stat, zb_object_info *info) {
    *info = {};
    info->size = static_cast<uint64_t>(stat.st_size);
    info->validator.word[0] = static_cast<uint64_t>(stat.st_mtime);
    info->validator.word[1] = info->size;
    info->validator.valid = stat.st_mtime > 0 && time(nullptr) > stat.st_mtime + 2;
}

/* A failure without a reason may be one that GDAL remembers, of another thread's request. */
enum zb_code stat_path(const std::string &path, zb_object_info *info, zb_error *err) {
    VSIStatBufL stat;
    enum zb_code code = ask_for(path, &stat, err);
    if (code == ZB_EIO && VSIGetLastErrorNo() == VSIE_None)
        code = ask_for(path, &stat, err);
    if (code != ZB_OK)
        return code;
    if (VSI_ISDIR(stat.st_mode))
        return zb_fail(err, invents_directories(path) ? ZB_ENOTFOUND : ZB_EINVAL,
                       "%s is a directory, not a regular file", path.c_str());
    fill_info(stat, info);
    return ZB_OK;
}

/* GDAL's archives fail without a reason. */
enum zb_code explain_open(const std::string &path, int code, zb_error *err) {
    const std::string text = VSIGetLastErrorMsg();
    zb_object_info info;
    const enum zb_code now = stat_path(path, &info, err);
    return now == ZB_OK ? fail_to_open(path, code, text, err) : now;
}

} // namespace zarr3

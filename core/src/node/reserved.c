/* SPDX-License-Identifier: MIT */
#include "node/reserved.h"

#include <string.h>

#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "util/json_excerpt.h"
#include "zarrbridge/node.h"

/* Of a name that ends at its NUL or at a slash. */
static bool is_called(const char *name, const char *other) {
    const size_t length = strlen(other);
    return strncmp(name, other, length) == 0 && (!name[length] || name[length] == '/');
}

/* A node of such a name would be in the way of an object. */
static bool is_in_the_way(const char *name) {
    static const char *const metadata[] = {"zarr.json", ".zgroup", ".zarray", ".zattrs",
                                           ".zmetadata"};
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++)
        if (is_called(name, metadata[i]))
            return true;
    return zb__name_is_ours(name);
}

bool zb_name_is_reserved(const char *name) {
    return strncmp(name, "__", 2) == 0 || is_in_the_way(name);
}

static enum zb_code refuse(const char *path, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EINVAL,
                   "path %s: names that begin with \"__\", and those of documents and of temporary "
                   "objects, are reserved",
                   zb__name_excerpt(path, excerpt));
}

enum zb_code zb__path_check_copy(const char *path, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    enum zb_code code = zb__path_check(path, err);
    if (code || *path == '\0')
        return code;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (is_in_the_way(part))
            return refuse(path, err);
        for (const char *c = part; *c && *c != '/'; c++) {
            if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '\\')
                return zb_fail(err, ZB_EINVAL, "path %s has a control character or a backslash",
                               zb__name_excerpt(path, excerpt));
        }
    }
    return ZB_OK;
}

enum zb_code zb__path_check_new(const char *path, zb_error *err) {
    enum zb_code code = zb__path_check_copy(path, err);
    return !code && zb_name_is_reserved(zb__path_name(path)) ? refuse(path, err) : code;
}

enum zb_code zb__path_check_target(const char *from, const char *to, zb_error *err) {
    return strcmp(zb__path_name(from), zb__path_name(to)) == 0 ? zb__path_check_copy(to, err)
                                                               : zb__path_check_new(to, err);
}

/* SPDX-License-Identifier: MIT */
#include "store/directories.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "base/handles.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "store/location.h"
#include "store/network.h"
#include "store/node.h"
#include "zarrbridge/multiscales.h"
#include "zarrbridge/sys/hierarchy.h"

namespace zarr3 {

std::vector<std::string> sidecars_of(const std::string &root) {
    std::vector<std::string> found;
    if (is_url(root))
        return found;
    const size_t slash = root.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : root.substr(0, slash + 1);
    const std::string prefix = last_part(root) + ".";
    const CPLStringList names(VSIReadDir(parent.c_str()), TRUE);
    if (prefix.size() == 1) /* the root of a file system */
        return found;
    for (const std::string name : names) {
        const bool overview =
            name == prefix + "ovr" ||
            (name.size() > prefix.size() + 4 && name.compare(name.size() - 4, 4, ".ovr") == 0);
        if (name == prefix + "aux.xml" || name == prefix + "gmac" ||
            (overview && name.compare(0, prefix.size(), prefix) == 0))
            found.push_back(name.substr(prefix.size() - 1));
    }
    return found;
}

void remove_sidecars(const std::string &root) {
    for (const std::string &tail : sidecars_of(root))
        VSIUnlink((root + tail).c_str());
}

std::string staging_suffix() {
    const CoreText name(zb_aside_name(""));
    if (name == nullptr)
        throw std::bad_alloc();
    return name.get() + 1; /* without the dot */
}

bool is_staging(const std::string &name) {
    return zb_name_is_aside(name.c_str());
}

static bool is_hidden(const std::string &name, const std::string &tail) {
    return name[0] == '.' && name.size() > tail.size() &&
           name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
}

/* The core keeps locks of keys in files, and writes and deletes by way of names, that end so. */
static const char kLockTail[] = ".zb-lock", kTemporaryTail[] = ".zb-tmp";

std::string remove_empty(const std::string &directory) {
    if (is_url(directory)) /* there are no directories */
        return "";
    const CPLStringList names(VSIReadDir(directory.c_str()), TRUE);
    std::string other;
    for (const char *name : names) {
        if (is_hidden(name, kLockTail))
            VSIUnlink(file_in(directory, name).c_str());
        else if (!EQUAL(name, ".") && !EQUAL(name, "..") && !is_hidden(name, kTemporaryTail))
            other = name;
    }
    if (other.empty() && !STARTS_WITH(directory.c_str(), "/vsi"))
        zb_store_remove_directory(directory.c_str());
    else if (other.empty())
        VSIRmdir(directory.c_str());
    return other;
}

bool sync_directory(const std::string &directory) {
    if (STARTS_WITH(directory.c_str(), "/vsi"))
        return true;
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool good = syncfs(fd) == 0;
    const int failed = errno;
    close(fd);
    errno = failed;
    return good;
}

} // namespace zarr3

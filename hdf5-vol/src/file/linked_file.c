/* SPDX-License-Identifier: MIT */
/* Files that links name: see linked_file.h. */
#include "file/linked_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A question about a path. */
typedef bool path_test(const char *path);

static bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

static bool may_be_there(const char *path) {
    return is_there(path) || (errno != ENOENT && errno != ENOTDIR);
}

/* A path made of a directory (of `size` bytes) and a name, if the test holds; malloc'ed. */
static char *join_if(path_test *test, const char *directory, size_t size, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%.*s%s%s", (int)size, directory, size > 0 ? "/" : "", name) < 0)
        return NULL;
    if (test(path))
        return path;
    free(path);
    return NULL;
}

/* In a list of directories, as HDF5_EXT_PREFIX is. ${ORIGIN} is the directory of the store. */
static char *find_in_list(path_test *test, const char *list, const char *origin, size_t origin_size,
                          const char *name) {
    static const char word[] = "${ORIGIN}";
    char *found = NULL;
    while (list && *list && !found) {
        const size_t size = strcspn(list, ":");
        char *directory = NULL;
        const bool relative = strncmp(list, word, sizeof word - 1) == 0;
        const int cut = relative ? (int)sizeof word - 1 : 0;
        if (asprintf(&directory, "%.*s%.*s", relative ? (int)origin_size : 0, origin,
                     (int)size - cut, list + cut) >= 0)
            found = join_if(test, directory, strlen(directory), name);
        free(directory);
        list += size;
        list += *list == ':';
    }
    return found;
}

static char *find(path_test *test, const char *variable, const char *prefix, const char *holder,
                  const char *name) {
    size_t size = strlen(holder);
    while (size > 1 && holder[size - 1] == '/')
        size--;
    while (size > 0 && holder[size - 1] != '/')
        size--;
    const char *directory = size > 0 ? holder : ".";
    size = size > 1 ? size - 1 : 1;
    if (*name == '/' && test(name))
        return strdup(name);
    const char *base = strrchr(name, '/');
    if (*name == '/')
        name = base + 1; /* HDF5 looks for the last part of a path that is not there */
    char *found = find_in_list(test, getenv(variable), directory, size, name);
    if (!found)
        found = find_in_list(test, prefix, directory, size, name);
    if (!found)
        found = join_if(test, directory, size, name);
    return found ? found : join_if(test, "", 0, name);
}

char *vol_linked_file(const char *variable, const char *prefix, const char *holder,
                      const char *name) {
    return find(is_there, variable, prefix, holder, name);
}

char *vol_linked_file_perhaps(const char *variable, const char *prefix, const char *holder,
                              const char *name) {
    return find(may_be_there, variable, prefix, holder, name);
}

/* SPDX-License-Identifier: MIT */
/*
 * Finding the module. Its place is known relative to that of the library (or plugin, or program)
 * that this code is part of, so that an installation can be moved; only then by the prefix that the
 * build was configured with.
 */
#include "store/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "util/reuse.h"
#include "zarrbridge/limits.h"

#define FILE_NAME "libzarrbridge_remote.so"
#define VARIABLE "ZARRBRIDGE_REMOTE_LIBRARY"

static const zb__module *module;
static zb_error failure; /* why there is none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool zb_name_is_url(const char *name) {
    static const char *const schemes[] = {"https://", "http://", "s3://", "az://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncasecmp(name, schemes[i], strlen(schemes[i])) == 0)
            return true;
    }
    return false;
}

/* From the folder of the file that has this code: a library's beside zarrbridge/, a plugin's one or
   two folders below that, the program's in bin; and those of a build tree. */
static const char *const places[] = {"",
                                     "zarrbridge/",
                                     "../zarrbridge/",
                                     "../../zarrbridge/",
                                     "../" ZB_LIBRARY_FOLDER "/zarrbridge/",
                                     "../core/",
                                     "../../core/"};

static enum zb_code take(const char *path, zb_error *err) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return zb_fail(err, ZB_EUNSUPPORTED, "%s", dlerror());
    const zb__module *found = dlsym(library, ZB__MODULE_SYMBOL);
    if (!found || strcmp(found->version, zb_version()) != 0 ||
        found->store_size != sizeof(zb_store)) {
        dlclose(library);
        return zb_fail(err, ZB_EUNSUPPORTED, "%s is not of zarrbridge %s", path, zb_version());
    }
    module = found;
    return ZB_OK;
}

/* False: there is no file at the path. */
static bool try_path(const char *folder, size_t length, const char *place, zb_error *err) {
    char *path;
    if (asprintf(&path, "%.*s%s" FILE_NAME, (int)length, folder, place) < 0)
        return false;
    const bool exists = access(path, F_OK) == 0;
    if (exists)
        (void)take(path, err);
    free(path);
    return exists;
}

static enum zb_code find(zb_error *err) {
    const char *named = secure_getenv(VARIABLE);
    if (named && *named)
        return take(named, err);
    Dl_info self;
    const char *slash = dladdr((const void *)&module, &self) ? strrchr(self.dli_fname, '/') : NULL;
    char program[4096];
    const char *from = slash ? self.dli_fname : program;
    if (!slash) { /* a program that was started by its bare name */
        const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        slash = strrchr(program, '/');
    }
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        if (try_path(from, (size_t)(slash - from) + 1, places[i], err))
            return module ? ZB_OK : err->code;
    }
    if (try_path("", 0, ZB_MODULE_FOLDER "/", err))
        return module ? ZB_OK : err->code;
    return zb_fail(err, ZB_EUNSUPPORTED,
                   FILE_NAME " is not installed, which reads stores on the network");
}

enum zb_code zb__module_open(const char *name, const zb_store_settings *settings, zb_store **out,
                             zb_error *err) {
    static const zb__module_host host = {
        .store_init = zb_store_init, .take_buffer = zb__reuse_take, .stopper = zb__stopper_mine};
    pthread_mutex_lock(&lock);
    if (!module && !failure.code)
        (void)find(&failure);
    pthread_mutex_unlock(&lock);
    if (module)
        return module->open(name, settings, &host, out, err);
    if (err)
        *err = failure;
    return zb_error_prefix(err, failure.code, "cannot open a URL");
}

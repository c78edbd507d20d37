/* SPDX-License-Identifier: MIT */
/* What the subjects of doctor share: lists, libraries, versions, names that are near. */
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "zarrbridge/limits.h"

char *doctor_vprint(const char *format, va_list args) {
    char *text;
    if (vasprintf(&text, format, args) < 0)
        abort();
    return text;
}

char *doctor_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = doctor_vprint(format, args);
    va_end(args);
    return text;
}

char *doctor_join(const char *directory, const char *name) {
    return doctor_print("%s/%s", directory, name);
}

char *doctor_file_in(const doctor_list *directories, const char *name) {
    for (size_t i = 0; i < directories->count; i++) {
        char *path = doctor_join(directories->text[i], name);
        if (access(path, F_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

const char *doctor_variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool doctor_connector_is_named(void) {
    const char *value = doctor_variable("HDF5_VOL_CONNECTOR");
    return value && strncmp(value, "zarr", 4) == 0 && (value[4] == '\0' || value[4] == ' ');
}

bool doctor_function(void *library, const char *name, void *pointer) {
    void *found = dlsym(library, name);
    memcpy(pointer, &found, sizeof found);
    return found != NULL;
}

/* ---- Lists --------------------------------------------------------------------------------- */

void doctor_list_add(doctor_list *list, const char *text, size_t length) {
    char **grown = realloc(list->text, (list->count + 1) * sizeof *grown);
    if (!grown)
        abort();
    list->text = grown;
    list->text[list->count] = strndup(text, length);
    if (!list->text[list->count++])
        abort();
}

void doctor_list_clear(doctor_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->text[i]);
    free(list->text);
    *list = (doctor_list){.count = 0};
}

doctor_list doctor_split(const char *text, char separator) {
    const char ends[] = {separator, '\0'};
    doctor_list list = {.count = 0};
    while (text && *text) {
        const size_t length = strcspn(text, ends);
        if (length)
            doctor_list_add(&list, text, length);
        text += length + (text[length] != '\0');
    }
    return list;
}

/* ---- Libraries ----------------------------------------------------------------------------- */

static void add_once(doctor_list *list, const char *path) {
    char *real = realpath(path, NULL);
    bool is_new = real != NULL;
    for (size_t i = 0; i < list->count && is_new; i++)
        is_new = strcmp(list->text[i], real) != 0;
    if (is_new)
        doctor_list_add(list, real, strlen(real));
    free(real);
}

static void add_matches(doctor_list *list, const char *directory, const char *pattern) {
    glob_t found;
    char *whole = doctor_join(directory, pattern);
    if (glob(whole, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            add_once(list, found.gl_pathv[i]);
        globfree(&found);
    }
    free(whole);
}

doctor_list doctor_libraries(const char *const *patterns) {
    static const char *const places[] = {"/usr/local/lib", "/usr/lib/*-linux-*", "/usr/lib64",
                                         "/usr/lib"};
    doctor_list list = {.count = 0}, named = doctor_split(getenv("LD_LIBRARY_PATH"), ':');
    const char *conda = doctor_variable("CONDA_PREFIX");
    if (conda) {
        char *lib = doctor_join(conda, "lib");
        doctor_list_add(&named, lib, strlen(lib));
        free(lib);
    }
    for (size_t p = 0; patterns[p]; p++) {
        for (size_t i = 0; i < named.count; i++)
            add_matches(&list, named.text[i], patterns[p]);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            add_matches(&list, places[i], patterns[p]);
    }
    doctor_list_clear(&named);
    return list;
}

/* ---- Versions ------------------------------------------------------------------------------ */

static char *version_in(const char *bytes, size_t size) {
    const size_t length = sizeof ZB_FILE_SIGN - 1;
    const char *at = memmem(bytes, size, ZB_FILE_SIGN, length);
    if (!at)
        return NULL;
    at += length;
    const size_t left = size - (size_t)(at - bytes);
    return strndup(at, left < 32 ? left : 32);
}

char *doctor_version_of(const char *path) {
    struct stat info;
    char *version = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        const size_t size = (size_t)info.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            version = version_in(bytes, size);
            munmap(bytes, size);
        }
    }
    close(file);
    return version;
}

/* ---- Plugins that do not load -------------------------------------------------------------- */

/* The loader's messages are the same in all languages. */
void doctor_find_load_error(doctor *d, const char *file, const char *host, const char *message) {
    if (strstr(message, "version `GLIBC"))
        doctor_find(d, DOCTOR_ERROR,
                    "%s was built for a newer C library (%s) -> build it on this system, or take "
                    "the wheel of zarrbridge, which needs glibc 2.28",
                    file, message);
    else if (strstr(message, "libgdal.so"))
        doctor_find(d, DOCTOR_ERROR,
                    "%s was built for another version of GDAL than %s (%s) -> build it against "
                    "this GDAL, or install the package for it",
                    file, host, message);
    else
        doctor_find(d, DOCTOR_ERROR,
                    "%s does not load into %s (%s) -> install the library that is named, or build "
                    "the plugin again on this system",
                    file, host, message);
}

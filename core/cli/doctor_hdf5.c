/* SPDX-License-Identifier: MIT */
/*
 * `doctor`: the HDF5 libraries of the machine, their plugin directories, and whether the connector
 * loads. Those in wheels of Python are asked through Python (doctor_python.c).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "zarrbridge/limits.h"

#define CONNECTOR "libhdf5_vol_zarr.so"

/* ---- In the child process ------------------------------------------------------------------ */

/* HDF5's functions, by their types since 1.10. */
typedef int (*version_fn)(unsigned *, unsigned *, unsigned *);
typedef int (*open_fn)(void);
typedef int (*count_fn)(unsigned *);
typedef ssize_t (*path_fn)(unsigned, char *, size_t);
typedef int64_t (*register_fn)(const char *, int64_t);

static void tell_paths(void *library, FILE *out) {
    count_fn count;
    path_fn get;
    unsigned paths = 0;
    char text[4096];
    if (!doctor_function(library, "H5PLsize", &count) ||
        !doctor_function(library, "H5PLget", &get) || count(&paths) < 0)
        return;
    for (unsigned i = 0; i < paths; i++) {
        if (get(i, text, sizeof text) > 0)
            fprintf(out, "path=%s\n", text);
    }
}

/* The file from which the connector came. */
static void tell_loaded(FILE *out) {
    char *line = NULL;
    size_t size = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && getline(&line, &size, maps) > 0) {
        const char *path = strchr(line, '/');
        if (path && strstr(path, CONNECTOR)) {
            fprintf(out, "file=%s", path);
            break;
        }
    }
    free(line);
    if (maps)
        fclose(maps);
}

static void ask_library(void *context, FILE *out) {
    unsigned major = 0, minor = 0, release = 0;
    version_fn version;
    open_fn open_library;
    register_fn find_connector;
    unsetenv("HDF5_VOL_CONNECTOR"); /* whose mistakes would end the library's start */
    void *library = dlopen(context, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(out, "error=%s\n", dlerror());
        return;
    }
    if (doctor_function(library, "H5get_libversion", &version) &&
        version(&major, &minor, &release) >= 0)
        fprintf(out, "version=%u.%u.%u\nmajor=%u\nminor=%u\n", major, minor, release, major, minor);
    if (dlsym(library, "H5Pset_fapl_mpio"))
        fprintf(out, "parallel=1\n");
    if (!doctor_function(library, "H5open", &open_library) || open_library() < 0)
        return;
    tell_paths(library, out);
    fflush(out);
    if (!doctor_function(library, "H5VLregister_connector_by_name", &find_connector))
        return;
    fprintf(out, "connector=%d\n", find_connector("zarr", 0) >= 0);
    tell_loaded(out);
}

static void load_file(void *context, FILE *out) {
    if (!dlopen(context, RTLD_NOW | RTLD_LOCAL))
        fprintf(out, "error=%s\n", dlerror());
}

/* ---- What is found ------------------------------------------------------------------------- */

typedef struct hdf5 {
    doctor *d;
    const char *path;     /* of the library */
    char *version;        /* "1.14.5" */
    long major, minor;    /* of it */
    bool loads;           /* the connector */
    doctor_list places;   /* plugin directories */
    char *connector;      /* a file in one of them, or NULL */
    const char *nearby;   /* one that another library finds, or NULL */
    doctor_probe *answer; /* of the child */
} hdf5;

static void check_links(doctor *d, const char *directory) {
    struct stat info;
    struct dirent *entry;
    DIR *entries = opendir(directory);
    while (entries && (entry = readdir(entries)) != NULL) {
        char *path = doctor_join(directory, entry->d_name);
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && stat(path, &info) != 0)
            doctor_find(d, DOCTOR_ERROR,
                        "%s is a link that leads nowhere; HDF5's search for plugins ends at it -> "
                        "rm %s",
                        path, path);
        free(path);
    }
    if (entries)
        closedir(entries);
}

static void check_version(doctor *d, const char *file) {
    char *version = doctor_version_of(file);
    if (version && strcmp(version, zb_version()) != 0)
        doctor_find(d, DOCTOR_WARN,
                    "%s is of zarrbridge %s, this program of %s -> install both from one build",
                    file, version, zb_version());
    free(version);
}

/* A connector that is named and not there is worse than none. */
static void find_missing(const hdf5 *h) {
    char *way = h->nearby && h->places.count
                    ? doctor_print("ln -s %s %s/", h->nearby, h->places.text[0])
                    : doctor_print("install the connector, or export HDF5_PLUGIN_PATH=DIRECTORY "
                                   "of %s",
                                   CONNECTOR);
    char *where = h->places.count == 1 ? doctor_print("in %s", h->places.text[0])
                                       : doctor_print("in the plugin directories");
    if (doctor_connector_is_named())
        doctor_find(h->d, DOCTOR_ERROR,
                    "HDF5_VOL_CONNECTOR names the connector zarr, and HDF5 %s finds no %s %s: its "
                    "programs print an error and make HDF5 files called x.zarr, and h5py 3.16 "
                    "crashes -> %s, or unset the variable",
                    h->version, CONNECTOR, where, way);
    else
        doctor_find(h->d, DOCTOR_WARN, "HDF5 %s (%s) finds no %s %s -> %s", h->version, h->path,
                    CONNECTOR, where, way);
    free(where);
    free(way);
}

static void find_unloaded(const hdf5 *h) {
    doctor_probe loading = doctor_call(h->d, load_file, h->connector);
    char *error = doctor_probe_value(&loading, "error", 0);
    char *words = doctor_probe_words(h->answer);
    if (doctor_find_crash(h->d, &loading, h->connector))
        ;
    else if (error)
        doctor_find_load_error(h->d, h->connector, "HDF5", error);
    else if (strcasestr(h->answer->err, "signature") || strcasestr(h->answer->err, "signed"))
        doctor_find(h->d, DOCTOR_ERROR,
                    "HDF5 %s (%s) loads signed plugins alone, and %s has no signature that it "
                    "knows -> sign it with the key of that HDF5, or take an HDF5 that was built "
                    "without HDF5_REQUIRE_SIGNED_PLUGINS",
                    h->version, h->path, h->connector);
    else
        doctor_find(h->d, DOCTOR_ERROR,
                    "HDF5 %s (%s) does not take %s: %s -> build the connector again for this HDF5",
                    h->version, h->path, h->connector, words ? words : "it gives no reason");
    free(words);
    free(error);
    doctor_probe_clear(&loading);
}

static void judge(const hdf5 *h) {
    if (h->major < 1 || (h->major == 1 && h->minor < 14)) {
        doctor_find(h->d, DOCTOR_NOTE,
                    "HDF5 %s (%s) is older than 1.14, and has no place for the connector -> use "
                    "programs that are built with HDF5 1.14 or later",
                    h->version, h->path);
        return;
    }
    for (size_t i = 0; i < h->places.count; i++)
        check_links(h->d, h->places.text[i]);
    if (!h->connector) {
        find_missing(h);
        return;
    }
    check_version(h->d, h->connector);
    if (!h->loads)
        find_unloaded(h);
    else if (h->major >= 2 && !doctor_connector_is_named())
        doctor_find(h->d, DOCTOR_WARN,
                    "HDF5 %s asks the connector only when it is named: programs find no store -> "
                    "export HDF5_VOL_CONNECTOR=zarr before they start",
                    h->version);
}

/* The plugin directories that a library has told. */
static doctor_list list_places(const doctor_probe *answer) {
    doctor_list places = {.count = 0};
    char *text;
    for (size_t i = 0; (text = doctor_probe_value(answer, "path", i)) != NULL; i++) {
        doctor_list_add(&places, text, strlen(text));
        free(text);
    }
    return places;
}

/* Asks one library; false where there is nothing to judge. */
static bool ask(hdf5 *h) {
    char *error = NULL;
    *h->answer = doctor_call(h->d, ask_library, (void *)(uintptr_t)h->path);
    if (doctor_find_crash(h->d, h->answer, h->path))
        return false;
    error = doctor_probe_value(h->answer, "error", 0);
    h->version = doctor_probe_value(h->answer, "version", 0);
    if (error || !h->version) {
        doctor_find(h->d, DOCTOR_NOTE,
                    "%s does not load: %s -> install the package anew if you "
                    "use it",
                    h->path, error ? error : "it is no HDF5");
        free(error);
        return false;
    }
    h->major = doctor_probe_number(h->answer, "major");
    h->minor = doctor_probe_number(h->answer, "minor");
    h->loads = doctor_probe_number(h->answer, "connector") == 1;
    h->places = list_places(h->answer);
    h->connector = doctor_file_in(&h->places, CONNECTOR);
    return true;
}

static void tell(const hdf5 *h) {
    const bool is_parallel = doctor_probe_number(h->answer, "parallel") == 1;
    doctor_fact(h->d, "%s %s   %s   connector %s", h->version, is_parallel ? "parallel" : "serial",
                h->path,
                h->loads       ? "loads"
                : h->connector ? "does not load"
                               : "is not there");
    for (size_t i = 0; i < h->places.count; i++)
        doctor_fact(h->d, "  plugins %s", h->places.text[i]);
}

/* ---- h5cc ---------------------------------------------------------------------------------- */

static void check_compiler(doctor *d) {
    doctor_probe shown = doctor_run(d, (const char *const[]){"h5cc", "-show", NULL});
    if (shown.status == 0 && strstr(shown.out, ".a ") && strstr(shown.out, "libhdf5"))
        doctor_find(d, DOCTOR_NOTE,
                    "h5cc links HDF5 statically, and such programs load no plugins -> h5cc -shlib");
    doctor_probe_clear(&shown);
}

static void clear(hdf5 *h) {
    doctor_list_clear(&h->places);
    free(h->version);
    free(h->connector);
    doctor_probe_clear(h->answer);
}

doctor_list doctor_hdf5_libraries(void) {
    static const char *const patterns[] = {"libhdf5_serial.so.[0-9]*", "libhdf5.so.[0-9]*",
                                           "libhdf5_openmpi.so.[0-9]*", "libhdf5_mpich.so.[0-9]*",
                                           NULL};
    return doctor_libraries(patterns);
}

char *doctor_hdf5_connector(void) {
    const doctor asking = {.seconds = 10};
    doctor_list libraries = doctor_hdf5_libraries();
    char *found = NULL;
    for (size_t i = 0; i < libraries.count && !found; i++) {
        doctor_probe answer = doctor_call(&asking, ask_library, libraries.text[i]);
        doctor_list places = list_places(&answer);
        found = doctor_file_in(&places, CONNECTOR);
        doctor_list_clear(&places);
        doctor_probe_clear(&answer);
    }
    doctor_list_clear(&libraries);
    return found;
}

void doctor_hdf5(doctor *d) {
    doctor_list libraries = doctor_hdf5_libraries();
    hdf5 *all = calloc(libraries.count + 1, sizeof *all);
    doctor_probe *answers = calloc(libraries.count + 1, sizeof *answers);
    const char *nearby = NULL;
    if (!all || !answers)
        abort();
    doctor_begin(d, "hdf5");
    for (size_t i = 0; i < libraries.count; i++) {
        all[i] = (hdf5){.d = d, .path = libraries.text[i], .answer = &answers[i]};
        if (ask(&all[i]) && all[i].connector && !nearby)
            nearby = all[i].connector;
    }
    for (size_t i = 0; i < libraries.count; i++) {
        all[i].nearby = nearby;
        if (all[i].version && !answers[i].is_late && !answers[i].signal) {
            tell(&all[i]);
            judge(&all[i]);
        }
        clear(&all[i]);
    }
    if (!libraries.count)
        doctor_fact(d, "no library is found");
    check_compiler(d);
    free(answers);
    free(all);
    doctor_list_clear(&libraries);
}

/* SPDX-License-Identifier: MIT */
/* `doctor`: the GDAL libraries of the machine, and whether they have the driver. */
#include <dlfcn.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "doctor.h"
#include "zarrbridge/limits.h"

#define DRIVER "gdal_Zarr3.so"

/* ---- In the child process ------------------------------------------------------------------ */

typedef const char *(*text_fn)(const char *);
typedef void (*void_fn)(void);
typedef int (*count_fn)(void);
typedef void *(*driver_fn)(int);
typedef const char *(*name_fn)(void *);

/* The places of the two drivers in the list, from 1, in whose order GDAL asks them. */
static void tell_drivers(void *library, FILE *out) {
    count_fn count;
    driver_fn driver;
    name_fn name;
    if (!doctor_function(library, "GDALGetDriverCount", &count) ||
        !doctor_function(library, "GDALGetDriver", &driver) ||
        !doctor_function(library, "GDALGetDriverShortName", &name))
        return;
    for (int i = 0; i < count(); i++) {
        const char *text = name(driver(i));
        if (text && (strcmp(text, "Zarr3") == 0 || strcmp(text, "Zarr") == 0))
            fprintf(out, "%s=%d\n", text, i + 1);
    }
}

static void ask_library(void *context, FILE *out) {
    text_fn version;
    void_fn all;
    void *library = dlopen(context, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(out, "error=%s\n", dlerror());
        return;
    }
    if (doctor_function(library, "GDALVersionInfo", &version))
        fprintf(out, "version=%s\n", version("RELEASE_NAME"));
    fflush(out);
    if (doctor_function(library, "GDALAllRegister", &all))
        all();
    tell_drivers(library, out);
}

typedef struct loading {
    const char *library, *plugin;
} loading;

static void load_plugin(void *context, FILE *out) {
    const loading *l = context;
    if (!dlopen(l->library, RTLD_NOW | RTLD_GLOBAL) || !dlopen(l->plugin, RTLD_NOW))
        fprintf(out, "error=%s\n", dlerror());
}

/* ---- What is found ------------------------------------------------------------------------- */

typedef struct gdal {
    doctor *d;
    const char *path; /* of the library */
    char *version;
    doctor_list places; /* where it looks for plugins without a variable */
    doctor_list named;  /* those of GDAL_DRIVER_PATH; empty: it is not set */
    doctor_probe answer;
} gdal;

/* gdalplugins beside the library, and in it a directory for a minor version, which hides the
   rest. */
static doctor_list own_places(const gdal *g) {
    doctor_list list = {.count = 0};
    const char *slash = strrchr(g->path, '/');
    char *plugins = doctor_print("%.*s/gdalplugins", (int)(slash - g->path), g->path);
    const size_t minor = strcspn(g->version, ".") + 1;
    char *versioned = doctor_print("%s/%.*s", plugins,
                                   (int)(minor + strcspn(g->version + minor, ".")), g->version);
    if (access(versioned, F_OK) == 0)
        doctor_list_add(&list, versioned, strlen(versioned));
    doctor_list_add(&list, plugins, strlen(plugins));
    free(versioned);
    free(plugins);
    return list;
}

static bool lists_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = text; at && (at = strcasestr(at, word)) != NULL; at += length) {
        const bool begins = at == text || strchr(" ,;", at[-1]);
        if (begins && (at[length] == '\0' || strchr(" ,;", at[length])))
            return true;
    }
    return false;
}

static void find_load_error(const gdal *g, const char *plugin) {
    loading both = {.library = g->path, .plugin = plugin};
    doctor_probe probe = doctor_call(g->d, load_plugin, &both);
    char *error = doctor_probe_value(&probe, "error", 0);
    char *words = doctor_probe_words(&g->answer), *host = doctor_print("GDAL %s", g->version);
    if (doctor_find_crash(g->d, &probe, plugin))
        ;
    else if (error && strstr(error, "undefined symbol"))
        doctor_find(g->d, DOCTOR_ERROR,
                    "%s was built for another version of GDAL than %s (%s) -> build it against "
                    "this GDAL, or install the package for it",
                    plugin, g->version, error);
    else if (error)
        doctor_find_load_error(g->d, plugin, host, error);
    else
        doctor_find(g->d, DOCTOR_ERROR,
                    "GDAL %s does not take %s: %s -> build it against this GDAL, or install the "
                    "package for it",
                    g->version, plugin, words ? words : "it gives no reason");
    free(host);
    free(words);
    free(error);
    doctor_probe_clear(&probe);
}

/* The driver in the directory beside that of a minor version; malloc'ed, NULL where it is not
   hidden so. */
static char *hidden_driver(const gdal *g) {
    if (g->places.count < 2)
        return NULL;
    char *seen = doctor_join(g->places.text[0], DRIVER);
    char *plain = doctor_join(g->places.text[1], DRIVER);
    const bool is_hidden = access(seen, F_OK) != 0 && access(plain, F_OK) == 0;
    free(seen);
    if (is_hidden)
        return plain;
    free(plain);
    return NULL;
}

static void find_nothing(const gdal *g, const char *named) {
    char *own = doctor_file_in(&g->places, DRIVER);
    char *hidden = named ? NULL : hidden_driver(g);
    if (named && own)
        doctor_find(g->d, DOCTOR_ERROR,
                    "GDAL_DRIVER_PATH=%s hides %s -> export GDAL_DRIVER_PATH=%s:%s", named, own,
                    named, g->places.text[0]);
    else if (hidden)
        doctor_find(g->d, DOCTOR_ERROR,
                    "the directory %s hides %s: GDAL %s looks into it alone -> mv %s %s/",
                    g->places.text[0], hidden, g->version, hidden, g->places.text[0]);
    else
        doctor_find(g->d, DOCTOR_WARN,
                    "GDAL %s (%s) finds no %s in %s -> install the driver, or export "
                    "GDAL_DRIVER_PATH=DIRECTORY of it",
                    g->version, g->path, DRIVER, named ? named : g->places.text[0]);
    free(hidden);
    free(own);
}

/* The driver is not registered: the reasons, from the plainest on. */
static void find_missing(const gdal *g) {
    const char *skip = doctor_variable("GDAL_SKIP"), *named = doctor_variable("GDAL_DRIVER_PATH");
    const doctor_list first = {.text = g->places.text, .count = g->places.count ? 1 : 0};
    char *there = doctor_file_in(named ? &g->named : &first, DRIVER);
    if (lists_word(skip, "Zarr3"))
        doctor_find(g->d, DOCTOR_ERROR,
                    "GDAL_SKIP=\"%s\" leaves Zarr3 out -> take it out of the variable", skip);
    else if (there)
        find_load_error(g, there);
    else
        find_nothing(g, named);
    free(there);
}

static void check_version(const gdal *g) {
    char *file = doctor_file_in(g->named.count ? &g->named : &g->places, DRIVER);
    char *version = file ? doctor_version_of(file) : NULL;
    if (version && strcmp(version, zb_version()) != 0)
        doctor_find(g->d, DOCTOR_WARN,
                    "%s is of zarrbridge %s, this program of %s -> install both from one build",
                    file, version, zb_version());
    free(version);
    free(file);
}

static void judge(const gdal *g) {
    const long ours = doctor_probe_number(&g->answer, "Zarr3"),
               other = doctor_probe_number(&g->answer, "Zarr");
    if (ours > 0)
        doctor_fact(g->d, "%s   %s   Zarr3 is driver %ld%s", g->version, g->path, ours,
                    other > ours ? ", before Zarr" : "");
    else
        doctor_fact(g->d, "%s   %s   has no driver Zarr3", g->version, g->path);
    if (ours == 0)
        find_missing(g);
    else if (other > 0 && other < ours && !doctor_variable("GDAL_ZARR3_TAKE_OVER"))
        doctor_find(g->d, DOCTOR_WARN,
                    "GDAL's own driver Zarr is asked before Zarr3 -> name stores ZARR3:\"PATH\", "
                    "or export GDAL_ZARR3_TAKE_OVER=YES");
    check_version(g);
}

static void ask(gdal *g) {
    g->answer = doctor_call(g->d, ask_library, (void *)(uintptr_t)g->path);
    char *error = doctor_probe_value(&g->answer, "error", 0);
    g->version = doctor_probe_value(&g->answer, "version", 0);
    if (doctor_find_crash(g->d, &g->answer, g->path))
        ;
    else if (error || !g->version)
        doctor_find(g->d, DOCTOR_NOTE,
                    "%s does not load: %s -> install the package anew if you "
                    "use it",
                    g->path, error ? error : "it is no GDAL");
    else
        g->places = own_places(g);
    free(error);
}

void doctor_gdal(doctor *d) {
    static const char *const patterns[] = {"libgdal.so.[0-9]*", NULL};
    doctor_list libraries = doctor_libraries(patterns);
    doctor_begin(d, "gdal");
    for (size_t i = 0; i < libraries.count; i++) {
        gdal g = {.d = d, .path = libraries.text[i]};
        g.named = doctor_split(getenv("GDAL_DRIVER_PATH"), ':');
        ask(&g);
        if (g.places.count)
            judge(&g);
        doctor_list_clear(&g.places);
        doctor_list_clear(&g.named);
        doctor_probe_clear(&g.answer);
        free(g.version);
    }
    if (!libraries.count)
        doctor_fact(d, "no library is found");
    doctor_list_clear(&libraries);
}

/* SPDX-License-Identifier: MIT */
/*
 * `doctor`: the variables of the environment that concern us. Values that may hold a secret are not
 * printed: those of names or words that say so, and what stands before an @ in a URL or behind a ?
 * in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "doctor.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/limits.h"

extern char **environ;

/* Besides those of limits. tests/doctor/test_doctor.py compares them with the sources. */
static const char *const own_names[] = {
    "ZARRBRIDGE_INTERRUPT",          "ZARRBRIDGE_LINKS_TO",    "ZARRBRIDGE_LOCKS",
    "ZARRBRIDGE_MACHINES",           "ZARRBRIDGE_MOVE_CHUNKS", "ZARRBRIDGE_REMOTE_LIBRARY",
    "ZARRBRIDGE_REMOTE_MISSING_403", "ZARRBRIDGE_VERBOSE"};

/* Of HDF5 and GDAL, as far as they decide on plugins, and of the driver. */
static const char *const host_names[] = {
    "HDF5_PLUGIN_PATH",      "HDF5_PLUGIN_PRELOAD", "HDF5_VOL_CONNECTOR",
    "HDF5_USE_FILE_LOCKING", "GDAL_DRIVER_PATH",    "GDAL_SKIP",
    "GDAL_ZARR3_TAKE_OVER",  "ZARR3_REMOTE",        NULL};

/* The beginnings of names that are told where they are set. */
static const char *const shown[] = {"ZARRBRIDGE_", "ZARR3_",    "HDF5_",        "GDAL_",
                                    "AWS_",        "AZURE_",    "LD_",          "CONDA_PREFIX",
                                    "SSL_CERT_",   "CURL_CA_",  "https_proxy=", "http_proxy=",
                                    "HTTPS_PROXY", "all_proxy", "no_proxy",     "PYTHONPATH"};

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_shown(const char *entry) {
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (begins(entry, shown[i]))
            return true;
    }
    return false;
}

static bool is_secret(const char *name, size_t length) {
    static const char *const words[] = {
        "KEY", "SECRET", "TOKEN",   "PASS",   "PWD",    "BEARER",     "AUTH",
        "SAS", "SIG",    "PRIVATE", "HEADER", "COOKIE", "CREDENTIAL", "CONNECTION_STRING"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        for (size_t at = 0; at + strlen(words[i]) <= length; at++) {
            if (strncasecmp(name + at, words[i], strlen(words[i])) == 0)
                return true;
        }
    }
    return false;
}

/* A value may have options with names of their own: "zarr secret_key=...". */
static bool has_secret(const char *name, size_t length, const char *value) {
    const char *last = strrchr(value, '=');
    return is_secret(name, length) || strpbrk(value, "@?") ||
           (last && is_secret(value, (size_t)(last - value)));
}

static void tell(doctor *d, const char *entry) {
    const size_t length = strcspn(entry, "=");
    const char *value = entry + length + 1;
    if (has_secret(entry, length, value))
        doctor_fact(d, "%.*s is set (its value is not shown)", (int)length, entry);
    else
        doctor_fact(d, "%s", entry);
}

/* Ends with NULL; the caller frees the list. */
static const char **all_own_names(void) {
    const size_t others = sizeof own_names / sizeof *own_names;
    zb_limit_row row;
    size_t count = 0;
    while (zb_limit_describe(count, &row))
        count++;
    const char **names = calloc(count + others + 1, sizeof *names);
    if (!names)
        abort();
    for (size_t i = 0; i < count && zb_limit_describe(i, &row); i++)
        names[i] = row.variable;
    memcpy(names + count, own_names, sizeof own_names);
    return names;
}

static bool is_among(const char *name, const char *const *names) {
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static void check_own_name(doctor *d, const char *name, const char *const *names) {
    if (is_among(name, names))
        return;
    const char *meant = cli_nearest(name, names);
    if (meant)
        doctor_find(d, DOCTOR_WARN, "%s is no variable of zarrbridge, and is ignored -> write %s",
                    name, meant);
    else
        doctor_find(d, DOCTOR_WARN,
                    "%s is no variable of zarrbridge, and is ignored -> unset it; "
                    "docs/reference/limits.md lists those that there are",
                    name);
}

/* Other libraries have more variables than those that matter here. */
static void check_host_name(doctor *d, const char *name) {
    const char *meant = is_among(name, host_names) ? NULL : cli_nearest(name, host_names);
    static const char *const known[] = {"GDAL_DRIVER", "GDAL_DATA", "HDF5_DRIVER", NULL};
    const size_t near = meant ? strlen(meant) : 0;
    if (!meant || is_among(name, known) || strlen(name) + 2 < near || strlen(name) > near + 2)
        return;
    if (begins(name, "HDF5_") == begins(meant, "HDF5_"))
        doctor_find(d, DOCTOR_WARN, "%s is no variable that decides on plugins -> write %s", name,
                    meant);
}

/* HDF5 takes the first word for the connector's name. */
static void check_connector(doctor *d) {
    static const char *const names[] = {"zarr", "zarr3", "zarrbridge", "hdf5_vol_zarr", NULL};
    const char *value = doctor_variable("HDF5_VOL_CONNECTOR");
    char *word = value ? strndup(value, strcspn(value, " ;,=:")) : NULL;
    if (word && !doctor_connector_is_named() && cli_nearest(word, names))
        doctor_find(d, DOCTOR_ERROR,
                    "HDF5_VOL_CONNECTOR=\"%.*s\" names no connector: HDF5 programs go on without, "
                    "and make HDF5 files called x.zarr -> write HDF5_VOL_CONNECTOR=zarr; options "
                    "stand behind a blank (HDF5_VOL_CONNECTOR=\"zarr shards=auto\")",
                    (int)strlen(word), value);
    free(word);
}

static void check_preload(doctor *d) {
    const char *value = doctor_variable("HDF5_PLUGIN_PRELOAD");
    if (value && strcmp(value, "::") == 0)
        doctor_find(d, DOCTOR_ERROR,
                    "HDF5_PLUGIN_PRELOAD=:: switches all plugins of HDF5 off -> unset it");
}

/* Also directories of GDAL, where "disable" is none. */
static void check_directories(doctor *d, const char *name) {
    doctor_list list = doctor_split(getenv(name), ':');
    for (size_t i = 0; i < list.count; i++) {
        if (access(list.text[i], R_OK | X_OK) != 0 && strcmp(list.text[i], "disable") != 0)
            doctor_find(d, DOCTOR_WARN,
                        "%s names '%s', which cannot be read -> correct the path, or take it out",
                        name, list.text[i]);
    }
    doctor_list_clear(&list);
}

void doctor_variables(doctor *d) {
    const char **names = all_own_names();
    doctor_begin(d, "variable");
    for (char **entry = environ; *entry; entry++) {
        if (!is_shown(*entry))
            continue;
        char *name = strndup(*entry, strcspn(*entry, "="));
        tell(d, *entry);
        if (begins(name, "ZARRBRIDGE_"))
            check_own_name(d, name, names);
        else if (begins(name, "HDF5_") || begins(name, "GDAL_"))
            check_host_name(d, name);
        free(name);
    }
    free(names);
    check_connector(d);
    check_preload(d);
    check_directories(d, "HDF5_PLUGIN_PATH");
    check_directories(d, "GDAL_DRIVER_PATH");
}

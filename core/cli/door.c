/* SPDX-License-Identifier: MIT */
/* `door`: a file that leads to a store, for programs that insist on one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "place.h"
#include "report.h"
#include "zarrbridge/door.h"
#include "zarrbridge/location.h"

enum { OPTION_FORCE = 'f' };

/* ---- Names ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* x.zarr gives x.nc, in the directory of x.zarr; a URL gives one here. malloc'ed. */
static char *name_of_door(const char *store) {
    size_t size = strlen(store);
    char *name = NULL;
    while (size > 1 && store[size - 1] == '/')
        size--;
    if (zb_name_is_url(store)) {
        size = strcspn(store, "?#");
        while (size > 0 && store[size - 1] == '/')
            size--;
    }
    char *trimmed = strndup(store, size);
    if (!trimmed)
        return NULL;
    char *begin = zb_name_is_url(store) ? (char *)last_part(trimmed) : trimmed;
    const size_t length = strlen(begin);
    if (length > 5 && strcmp(begin + length - 5, ".zarr") == 0)
        begin[length - 5] = '\0';
    if (asprintf(&name, "%s.nc", begin) < 0)
        name = NULL;
    free(trimmed);
    return name;
}

/* The directory of a file that need not be there, without links and with a slash at its end.
   malloc'ed; NULL with errno. */
static char *directory_of(const char *file) {
    char *above = strndup(file, (size_t)(last_part(file) - file)), *out = NULL;
    char *real = above ? realpath(*above ? above : ".", NULL) : NULL;
    if (real && asprintf(&out, "%s%s", real, real[1] ? "/" : "") < 0)
        out = NULL;
    free(real);
    free(above);
    return out;
}

/* The text that leads from a door to a store: seen from the door where the store lies beside or
   below it, so that both can be moved together. */
static enum zb_code find_target(const char *store, const char *file, char **out, zb_error *err) {
    *out = NULL;
    if (zb_name_is_url(store)) {
        *out = strdup(store);
        return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a path");
    }
    char *real = realpath(store, NULL), *directory = directory_of(file);
    enum zb_code code = ZB_OK;
    const size_t size = directory ? strlen(directory) : 0;
    if (!real || !directory)
        code = zb_fail_errno(err, errno, "cannot make the door '%s'", file);
    else if (strncmp(real, directory, size) == 0)
        *out = strdup(real + size);
    else if (strncmp(real, directory, size - 1) == 0 && real[size - 1] == '\0')
        *out = strdup("."); /* the door is in the store */
    else
        *out = strdup(real);
    free(directory);
    free(real);
    return code || *out ? code : zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

/* ---- The command ---- */

static enum zb_code check_store(const char *store, zb_error *err) {
    place where;
    zb_node *node;
    const enum zb_code code = place_open(store, &where, &node, err);
    zb_node_release(node);
    place_clear(&where);
    return code;
}

static int show(const cli_call *call, const char *file) {
    zb_error err;
    zb_door door;
    report doc = report_begin(call, NULL);
    if (zb_door_read(file, ZB_DOORS_ANY, &door, &err)) {
        zb_door_clear(&door);
        return report_fail(&doc, &err);
    }
    zb_json_writer *w = report_object(call);
    report_text(w, "door", file);
    report_text(w, "target", door.target);
    report_text(w, "store", door.store);
    report_flag(w, "is_copy", door.is_copy);
    if (!call->json)
        printf("%s leads to %s%s\n", file, door.store,
               door.is_copy ? ", and is a copy of another door" : "");
    zb_door_clear(&door);
    return report_end(&doc, w, CLI_FINE);
}

static int make(const cli_call *call, const char *store, const char *file) {
    zb_error err;
    char *target = NULL;
    report doc = report_begin(call, NULL);
    enum zb_code code = check_store(store, &err);
    if (!code)
        code = find_target(store, file, &target, &err);
    if (!code)
        code = zb_door_make(file, target, cli_option(call, OPTION_FORCE) != NULL, &err);
    if (code) {
        free(target);
        return report_fail(&doc, &err);
    }
    zb_json_writer *w = report_object(call);
    report_text(w, "door", file);
    report_text(w, "target", target);
    cli_say(call, "%s leads to %s\n", file, target);
    free(target);
    return report_end(&doc, w, CLI_FINE);
}

static int run(const cli_call *call) {
    const char *store = call->arguments[0];
    if (call->count == 1 && zb_path_is_door(store))
        return show(call, store);
    char *file = call->count > 1 ? strdup(call->arguments[1]) : name_of_door(store);
    if (!file) {
        zb_error err;
        zb_fail(&err, ZB_ENOMEM, "no memory for a path");
        return cli_fail(&err);
    }
    const int status = make(call, store, file);
    free(file);
    return status;
}

const cli_command command_door = {
    .name = "door",
    .arguments = "STORE[/NODE] [FILE]",
    .least = 1,
    .most = 2,
    .summary = "make a file that leads to a store",
    .description =
        "Programs that look for a regular HDF5 file before they ask HDF5 (ncdump, NCO, CDO and all "
        "others that use netCDF, PyTables, cooler) open the store by that file, where "
        "HDF5_VOL_CONNECTOR=zarr is set. Without FILE x.zarr gets x.nc. A store beside or below "
        "the file is found also when both are moved together; any other one is named by its whole "
        "path. STORE may be a URL. Of a door alone the place is told to which it leads.",
    .options =
        (const struct argp_option[]){{.name = "force",
                                      .key = OPTION_FORCE,
                                      .doc = "replace a door of that name; no other file is"},
                                     {0}},
    .examples = (const cli_example[]){{"zarrbridge door x.zarr", "x.nc leads to x.zarr"},
                                      {"zarrbridge door https://host/x.zarr x.nc", "to a server"},
                                      {"zarrbridge door x.nc", "tell where x.nc leads"},
                                      {0}},
    .run = run,
};

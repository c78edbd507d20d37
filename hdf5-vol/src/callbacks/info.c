/* SPDX-License-Identifier: MIT */
/*
 * The connector's info: options that follow its name in HDF5_VOL_CONNECTOR="zarr shards=auto" or in
 * a tool's --vol-info. Separated by ';' or blanks. docs/hdf5.md describes them.
 *
 * An option that is not understood is accepted here and noted: if parsing failed, HDF5 would drop
 * the connector and go on without, and make HDF5 files of what should be stores. Opening or
 * creating any file then gives the error.
 */
#include "callbacks/classes.h"
#include "hdf5/errors.h"
#include "hdf5/property_lists.h"

#include "zarrbridge/write.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const vol_options defaults = {.native_compat = true, .dimensions = VOL_DIMENSIONS_AUTO};

/* An info, or the options that stand for a missing one. */
static vol_options options_of(const void *info) {
    return info ? *(const vol_options *)info : defaults;
}

static void *info_copy(const void *info) {
    vol_options *copy = malloc(sizeof *copy);
    if (copy)
        *copy = options_of(info);
    return copy;
}

static herr_t info_free(void *info) {
    free(info);
    return 0;
}

/* ---- Values ---- */

/* Words that options accept, each at the place of the value that it stands for. */
static const char *const flag_words[] = {"0", "1", NULL};
static const char *const naming_words[] = {"auto", "all", "door", "beside", NULL};
static const char *const doors_words[] = {"own", "any", NULL};
static const char *const dimension_words[] = {"0", "1", "auto", NULL};
static const char *const sync_words[] = {"none", "close", "always", NULL};
static const char *const strategy_words[] = {"rewrite", "append", "inplace", NULL};
static const char *const unreadable_words[] = {"error", "text", NULL};
static const char *const show_words[] = {"chunks", "shards", NULL};
static const char *const cut_words[] = {"auto", "off", "file", NULL};
static const char *const key_words[] = {"slashes", "dots", "v2", NULL};

static bool choose(const char *value, const char *const *words, unsigned *out) {
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* "8x8x8"; no length may be 0. *out changes only on success. */
static bool parse_shape(const char *text, vol_cutting *out) {
    vol_cutting parsed = {.cut = VOL_CUT_SHAPE};
    while (parsed.ndim < ZB_MAX_NDIM) {
        char *end;
        if (*text < '1' || *text > '9')
            return false;
        uint64_t length = strtoull(text, &end, 10);
        if (length > INT64_MAX)
            return false;
        parsed.shape[parsed.ndim++] = length;
        if (!*end) {
            *out = parsed;
            return true;
        }
        if (*end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

/* The words are judged when a store on the network is opened. */
static bool take_remote(const char *value, vol_options *options) {
    const size_t length = strlen(value);
    if (length >= sizeof options->remote)
        return false;
    memcpy(options->remote, value, length + 1);
    return true;
}

static void print_cutting(FILE *out, const char *name, const vol_cutting *cutting) {
    fprintf(out, ";%s=%s", name, cutting->cut == VOL_CUT_SHAPE ? "" : cut_words[cutting->cut]);
    for (uint32_t d = 0; d < cutting->ndim; d++)
        fprintf(out, "%s%" PRIu64, d ? "x" : "", cutting->shape[d]);
}

static herr_t info_to_text(const void *info, char **text) {
    const vol_options options = options_of(info);
    size_t size;
    FILE *out = open_memstream(text, &size);
    if (!out)
        return -1;
    fprintf(out, "native_compat=%s;store=%s;doors=%s;netcdf_dimensions=%s;sync=%s;strategy=%s",
            flag_words[options.native_compat], naming_words[options.naming],
            doors_words[options.any_door], dimension_words[options.dimensions],
            sync_words[options.sync], strategy_words[options.strategy]);
    print_cutting(out, "shards", &options.shards);
    print_cutting(out, "chunks", &options.chunks);
    fprintf(out, ";chunk_keys=%s;unreadable=%s;show=%s", key_words[options.chunk_keys],
            unreadable_words[options.unreadable], show_words[options.shows_shards]);
    if (*options.remote)
        fprintf(out, ";remote=%s", options.remote);
    if (*options.wrong)
        fprintf(out, ";%s", options.wrong);
    return fclose(out) == 0 ? 0 : -1;
}

/* Equal options have equal texts. */
static herr_t info_compare(int *order, const void *a, const void *b) {
    char *left = NULL, *right = NULL;
    herr_t result = -1;
    if (info_to_text(a, &left) >= 0 && info_to_text(b, &right) >= 0) {
        *order = strcmp(left, right);
        result = 0;
    }
    free(left);
    free(right);
    return result;
}

/* ---- Parsing ---- */

/* What messages say of the options. set_value() has the same. */
#define OPTION_NAMES                                                                               \
    "shards=auto|off|file|AxB, chunks=auto|AxB, strategy=rewrite|append|inplace, "                 \
    "sync=none|close|always, chunk_keys=slashes|dots|v2, store=auto|all|door|beside, "             \
    "doors=own|any, unreadable=error|text, show=chunks|shards, "                                   \
    "netcdf_dimensions=0|1|auto, native_compat=0|1, remote=..."

static bool set_value(vol_options *options, const char *name, const char *value) {
    unsigned choice = 0;
    if (strcmp(name, "native_compat") == 0 && choose(value, flag_words, &choice))
        options->native_compat = choice == 1;
    else if (strcmp(name, "store") == 0 && choose(value, naming_words, &choice))
        options->naming = (enum vol_naming)choice;
    else if (strcmp(name, "door") == 0 && strcmp(value, "beside") == 0)
        options->naming = VOL_NAMING_BESIDE;
    else if (strcmp(name, "doors") == 0 && choose(value, doors_words, &choice))
        options->any_door = choice == 1;
    else if (strcmp(name, "netcdf_dimensions") == 0 && choose(value, dimension_words, &choice))
        options->dimensions = (enum vol_dimensions)choice;
    else if (strcmp(name, "sync") == 0 && choose(value, sync_words, &choice))
        options->sync = (enum zb_sync)choice;
    else if (strcmp(name, "strategy") == 0 && choose(value, strategy_words, &choice))
        options->strategy = (enum zb_strategy)choice;
    else if (strcmp(name, "chunk_keys") == 0 && choose(value, key_words, &choice))
        options->chunk_keys = (enum vol_chunk_keys)choice;
    else if (strcmp(name, "unreadable") == 0 && choose(value, unreadable_words, &choice))
        options->unreadable = (enum vol_unreadable)choice;
    else if (strcmp(name, "show") == 0 && choose(value, show_words, &choice))
        options->shows_shards = choice == 1;
    else if (strcmp(name, "shards") == 0 && choose(value, cut_words, &choice))
        options->shards = (vol_cutting){.cut = (enum vol_cut)choice};
    else if (strcmp(name, "shards") == 0)
        return parse_shape(value, &options->shards);
    else if (strcmp(name, "chunks") == 0 && strcmp(value, "auto") == 0)
        options->chunks = (vol_cutting){.cut = VOL_CUT_AUTO};
    else if (strcmp(name, "chunks") == 0)
        return parse_shape(value, &options->chunks);
    else if (strcmp(name, "remote") == 0)
        return take_remote(value, options);
    else /* stacked connectors say these; there is nothing below us to choose */
        return strcmp(name, "under_vol") == 0 || strcmp(name, "under_info") == 0;
    return true;
}

/* The beginning of an option that is too long to be noted must not be taken for an option. */
static void parse_option(vol_options *options, char *option) {
    char noted[sizeof options->wrong];
    const char cut[] = "...";
    if (snprintf(noted, sizeof noted, "%s", option) >= (int)sizeof noted)
        memcpy(noted + sizeof noted - sizeof cut, cut, sizeof cut);
    char *value = option;
    const char *name = strsep(&value, "=");
    if (!*options->wrong && !(value && set_value(options, name, value)))
        memcpy(options->wrong, noted, sizeof noted);
}

static herr_t info_from_text(const char *text, void **info_out) {
    vol_options *info = malloc(sizeof *info);
    char *copy = strdup(text ? text : ""), *rest = copy, *option;
    if (!info || !copy) {
        free(copy);
        free(info);
        return -1;
    }
    *info = defaults;
    while ((option = strsep(&rest, "; \t")))
        if (*option)
            parse_option(info, option);
    free(copy);
    *info_out = info;
    return 0;
}

const H5VL_info_class_t vol_info_class = {
    .size = sizeof(vol_options),
    .copy = info_copy,
    .cmp = info_compare,
    .free = info_free,
    .to_str = info_to_text,
    .from_str = info_from_text,
};

bool vol_info_options(h5_lib *lib, hid_t fapl, vol_options *out) {
    void *info = NULL;
    *out = defaults;
    if (lib->H5Pget_vol_info(fapl, &info) >= 0)
        *out = options_of(info);
    info_free(info); /* the library made the copy with info_copy */
    out->is_netcdf = vol_fapl_is_netcdf(lib, fapl);
    if (*out->wrong)
        VOL_PUSH(lib, FILE, BADVALUE,
                 "the connector zarr has no option '%s' (wrong name or value, in "
                 "HDF5_VOL_CONNECTOR or a tool's --vol-info), and opens nothing with it; there "
                 "are " OPTION_NAMES,
                 out->wrong);
    return !*out->wrong;
}

/* The rest of a word that a name of ours begins, with at most one letter more, less or other. */
static bool is_near(const char *word, size_t length, const char *name) {
    const size_t size = strlen(name);
    size_t same = 0, behind = 0;
    while (same < length && same < size && tolower((unsigned char)word[same]) == name[same])
        same++;
    while (behind < length - same && behind < size - same &&
           tolower((unsigned char)word[length - 1 - behind]) == name[size - 1 - behind])
        behind++;
    return length - same - behind <= 1 && size - same - behind <= 1;
}

bool vol_word_means_zarr(const char *text) {
    static const char *const names[] = {VOL_NAME, "zarr3", "zarrbridge", "hdf5_vol_zarr",
                                        "libhdf5_vol_zarr"};
    const size_t length = strcspn(text, " \t;,:=.");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_near(text, length, names[i]))
            return true;
    }
    return false;
}

bool vol_env_is_ours(void) {
    const char *value = getenv("HDF5_VOL_CONNECTOR");
    size_t length = strlen(VOL_NAME);
    return value && strncmp(value, VOL_NAME, length) == 0 &&
           (value[length] == '\0' || value[length] == ' ');
}

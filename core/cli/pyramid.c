/* SPDX-License-Identifier: MIT */
/* `pyramid`: makes and removes levels of an array. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "place.h"
#include "print.h"
#include "progress.h"
#include "report.h"
#include "zarrbridge/multiscales.h"
#include "zarrbridge/pyramid.h"
#include "zarrbridge/stop.h"

enum { MOST_FACTORS = 64, KEY_FACTORS = 256, KEY_MIN_SIZE, KEY_METHOD, KEY_CLEAN };

/* Nodes in the making go before the program ends. A second signal ends it at once. */
static volatile sig_atomic_t was_stopped;

static void note_stop(int number) {
    was_stopped = 1;
    signal(number, SIG_DFL);
}

static int stop(void *unused) {
    (void)unused;
    return was_stopped;
}

static int go_on(void *shown, double done) {
    progress_set(shown, done);
    return stop(NULL);
}

/* "2,4,8", as a list or as arguments of gdaladdo are written. */
static bool parse_factors(const char *text, uint64_t *factors, size_t *count) {
    for (*count = 0;; text++) {
        if (*count == MOST_FACTORS || !cli_take_number(&text, &factors[(*count)++]))
            return false;
        if (*text != ',')
            return *text == '\0';
    }
}

/* CLI_FINE, or a mistake that was told. factors: MOST_FACTORS of them. */
static int parse(const cli_call *call, zb_pyramid_options *out, uint64_t *factors) {
    const char *list = cli_option(call, KEY_FACTORS), *size = cli_option(call, KEY_MIN_SIZE);
    const char *method = cli_option(call, KEY_METHOD);
    zb_error err;
    out->factors = factors;
    if (list && !parse_factors(list, factors, &out->factor_count))
        return cli_misuse(call, "--factors %s: not a value of it, as 2,4,8 is", list);
    if (size && !(cli_number(size, &out->smallest) && out->smallest > 0))
        return cli_misuse(call, "--min-size %s: not a value of it, as 256 is", size);
    if (method && zb_resample_from_name(method, &out->method, &err))
        return cli_misuse(call, "--method %s: %s", method, err.message);
    return CLI_FINE;
}

/* ---- The levels that there are --------------------------------------------------------------- */

/* Those on the way from an array up to the group of the list, and some beside it. */
typedef struct opened {
    zb_hierarchy *hierarchy;
    zb_node *nodes[32];
    size_t count;
} opened;

static const zb_node *node_at(void *context, const char *path) {
    opened *o = context;
    zb_node *node = NULL;
    for (size_t i = 0; i < o->count; i++) {
        if (strcmp(zb_node_path(o->nodes[i]), path) == 0)
            return o->nodes[i];
    }
    if (o->count == sizeof o->nodes / sizeof *o->nodes ||
        zb_node_open(o->hierarchy, path, &node, NULL))
        return NULL;
    return o->nodes[o->count++] = node;
}

/* The coarser ones, the finest first. The array is opened anew, with what is stored by now. */
static enum zb_code find_levels(const place *where, zb_strings *out, zb_error *err) {
    opened o = {.hierarchy = where->hierarchy};
    const zb_node *array = node_at(&o, where->node);
    const zb_nodes nodes = {node_at, &o};
    zb_pyramid found = {.group = NULL};
    enum zb_code code = array ? zb_pyramid_find(array, 2, &nodes, &found, err) : ZB_OK;
    for (size_t i = found.self + 1; !code && i < found.levels.count; i++) {
        if (!zb_strings_add(out, found.levels.text[i]))
            code = zb_fail(err, ZB_ENOMEM, "no memory for a list of levels");
    }
    zb_pyramid_clear(&found);
    while (o.count > 0)
        zb_node_release(o.nodes[--o.count]);
    return code;
}

static void say_levels(const cli_call *call, const zb_strings *levels) {
    const size_t count = levels->count;
    if (count == 0)
        cli_say(call, "%s has no levels: no side is longer than the coarsest would be\n",
                call->arguments[0]);
    else
        cli_say(call, "%s has %zu level%s:", call->arguments[0], count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && !call->quiet; i++) {
        fputs(" /", stderr);
        print_text_to(stderr, levels->text[i]);
        fputs(i + 1 < count ? "," : "\n", stderr);
    }
}

static int tell(const cli_call *call, report *doc, bool cleans, size_t removed,
                const zb_strings *levels) {
    zb_json_writer *w = report_object(call);
    report_text(w, "array", call->arguments[0]);
    if (cleans)
        report_number(w, "removed", removed);
    else
        report_paths(w, "levels", levels->text, levels->count);
    const int status = report_end(doc, w, CLI_FINE);
    if (cleans)
        cli_say(call, "%zu level%s removed\n", removed, removed == 1 ? "" : "s");
    else
        say_levels(call, levels);
    return status;
}

static int pyramid(const cli_call *call) {
    const bool cleans = cli_option(call, KEY_CLEAN) != NULL;
    uint64_t factors[MOST_FACTORS];
    zb_pyramid_options options = {.progress = go_on, .write.sync = ZB_SYNC_CLOSE};
    place where;
    zb_error err;
    zb_node *node;
    size_t removed = 0;
    zb_strings levels = {.count = 0};
    if (parse(call, &options, factors))
        return CLI_FAILED;
    report doc = report_begin(call, NULL);
    (void)signal(SIGINT, note_stop);
    (void)signal(SIGTERM, note_stop);
    (void)zb_thread_may_stop((zb_stop){stop, NULL});
    enum zb_code code = place_open(call->arguments[0], &where, &node, &err);
    if (!code) {
        zb_hierarchy_set_sync(where.hierarchy, ZB_SYNC_CLOSE);
        options.context = progress_begin(call, NULL, NULL);
        code = cleans ? zb_pyramid_remove(node, &removed, &err)
                      : zb_pyramid_build(node, &options, &err);
    }
    if (!code)
        code = zb_hierarchy_flush(where.hierarchy, &err);
    progress_end(options.context);
    if (!code && !cleans)
        code = find_levels(&where, &levels, &err);
    zb_node_release(node);
    place_clear(&where);
    const int status = code ? report_fail(&doc, &err) : tell(call, &doc, cleans, removed, &levels);
    zb_strings_clear(&levels);
    return status;
}

static const struct argp_option options[] = {
    {"factors", KEY_FACTORS, "LIST", 0,
     "Make these levels: 2,4,8 has a half, a quarter and an eighth of the columns and rows. "
     "Without it they go on until no side is longer than --min-size",
     0},
    {"min-size", KEY_MIN_SIZE, "SIZE", 0, "The side of the coarsest level: 256", 0},
    {"method", KEY_METHOD, "nearest|average|mode", 0, "How pixels are made: nearest", 0},
    {"clean", KEY_CLEAN, NULL, 0, "Remove the levels instead", 0},
    {0}};

const cli_command command_pyramid = {
    .name = "pyramid",
    .arguments = "STORE/ARRAY",
    .least = 1,
    .most = 1,
    .summary = "make coarser levels of an array, or remove them",
    .description =
        "The levels lie in groups beside it, and the attribute multiscales of its group lists "
        "them; GDAL shows them as overviews. They appear when all of them are whole. Levels that "
        "are there are made anew. Interrupted, the program takes back what it has begun.",
    .options = options,
    .examples =
        (const cli_example[]){
            {"zarrbridge pyramid x.zarr/dem --method average", "levels down to 256 pixels"},
            {"zarrbridge pyramid x.zarr/dem --factors 2,4,8", "three levels"},
            {"zarrbridge pyramid x.zarr/dem --clean", "none any more"},
            {0}},
    .keys = (const cli_example[]){{"array", "as given"},
                                  {"levels", "paths of those that there are now"},
                                  {"removed", "with --clean: how many levels were removed"},
                                  {0}},
    .run = pyramid,
};

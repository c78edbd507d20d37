/* SPDX-License-Identifier: MIT */
#include "pyramid.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "zarrbridge/pyramid.h"
#include "zarrbridge/stop.h"

enum { DONE = 0, FAILED = 2, MISUSED = -1, MOST_FACTORS = 64 };

typedef struct arguments {
    const char *path;
    bool cleans;
    uint64_t factors[MOST_FACTORS];
    zb_pyramid_options options;
} arguments;

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

static int go_on(void *unused, double done) {
    (void)done;
    return stop(unused);
}

static bool parse_number(const char *text, char **end, uint64_t *out) {
    errno = 0;
    *out = strtoull(text, end, 10);
    return *text >= '0' && *text <= '9' && *end != text && errno == 0;
}

/* "2,4,8", as a list or as arguments of gdaladdo are written. */
static bool parse_factors(const char *text, arguments *out) {
    out->options.factor_count = 0;
    for (;;) {
        char *end;
        if (out->options.factor_count == MOST_FACTORS ||
            !parse_number(text, &end, &out->factors[out->options.factor_count++]))
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

/* The value of an option; false where there is none or it is wrong. */
static bool parse_option(const char *name, const char *value, arguments *out, zb_error *err) {
    char *end;
    if (!value)
        return false;
    if (strcmp(name, "--factors") == 0)
        return parse_factors(value, out);
    if (strcmp(name, "--min-size") == 0)
        return parse_number(value, &end, &out->options.smallest) && *end == '\0' &&
               out->options.smallest > 0;
    return zb_resample_from_name(value, &out->options.method, err) == ZB_OK;
}

static bool is_option(const char *text) {
    static const char *const names[] = {"--factors", "--min-size", "--method"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0)
            return true;
    }
    return false;
}

static bool parse(int argc, char **argv, arguments *out) {
    for (int i = 0; i < argc; i++) {
        zb_error err = {.message = ""};
        if (strcmp(argv[i], "--clean") == 0) {
            out->cleans = true;
        } else if (is_option(argv[i])) {
            const char *value = i + 1 < argc ? argv[i + 1] : NULL;
            if (!parse_option(argv[i], value, out, &err)) {
                fprintf(stderr, "zarrbridge: pyramid %s %s: %s\n", argv[i], value ? value : "",
                        *err.message ? err.message : "not a value of it");
                return false;
            }
            i++;
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "zarrbridge: pyramid has no option '%s' (a path would be ./%s)\n",
                    argv[i], argv[i]);
            return false;
        } else if (out->path) {
            fprintf(stderr, "zarrbridge: pyramid takes one array, and got '%s' and '%s'\n",
                    out->path, argv[i]);
            return false;
        } else {
            out->path = argv[i];
        }
    }
    if (!out->path)
        fprintf(stderr, "zarrbridge: pyramid needs the path of an array\n");
    return out->path != NULL;
}

static enum zb_code run(const arguments *what, const zb_node *array, size_t *removed,
                        zb_error *err) {
    return what->cleans ? zb_pyramid_remove(array, removed, err)
                        : zb_pyramid_build(array, &what->options, err);
}

int pyramid_run(int argc, char **argv) {
    arguments what = {.path = NULL};
    if (!parse(argc, argv, &what))
        return MISUSED;
    what.options.factors = what.factors;
    what.options.progress = go_on;
    what.options.write.sync = ZB_SYNC_CLOSE;
    place where;
    zb_error err;
    zb_node *node = NULL;
    size_t removed = 0;
    (void)signal(SIGINT, note_stop);
    (void)signal(SIGTERM, note_stop);
    (void)zb_thread_may_stop((zb_stop){stop, NULL});
    enum zb_code code = place_find(what.path, NULL, &where, &err);
    if (!code) {
        zb_hierarchy_set_sync(where.hierarchy, ZB_SYNC_CLOSE);
        code = zb_node_open(where.hierarchy, where.node, &node, &err);
    }
    if (!code)
        code = run(&what, node, &removed, &err);
    if (!code)
        code = zb_hierarchy_flush(where.hierarchy, &err);
    zb_node_release(node);
    place_clear(&where);
    if (code) {
        fprintf(stderr, "zarrbridge: %s\n", err.message);
        return FAILED;
    }
    if (what.cleans)
        fprintf(stderr, "%zu levels removed\n", removed);
    else
        fprintf(stderr, "%s has its levels\n", what.path);
    return DONE;
}

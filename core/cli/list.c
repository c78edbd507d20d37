/* SPDX-License-Identifier: MIT */
/* `ls` and `tree`: all nodes below one, each printed as the walk comes to it. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "place.h"
#include "print.h"
#include "report.h"
#include "zarrbridge/node.h"

/* A bit for each level that the lines of a tree have a branch at: the group there has more nodes.
   Deeper levels are drawn without. */
enum { MOST_BRANCHES = 512 };

typedef struct listing {
    const cli_call *call;
    report report;
    size_t start;   /* length of the path of the first node */
    uint64_t depth; /* of the deepest nodes to be shown, below the first one */
    uint64_t nodes, unreadable;
    bool is_tree, begun, branch[MOST_BRANCHES];
} listing;

static const char *kind_of(const zb_entry *entry) {
    return entry->reason ? "unreadable" : entry->array ? "array" : "group";
}

static enum print_color color_of(const zb_entry *entry) {
    return entry->reason ? PRINT_BAD : entry->array ? PRINT_ARRAY : PRINT_GROUP;
}

static void print_facts(const zb_entry *entry) {
    const zb_array_info *array = entry->array;
    char name[ZB_DTYPE_NAME_SIZE];
    if (array) {
        printf("  %s ", zb_dtype_name(array->dtype, name));
        print_shape(array->ndim, array->shape);
        printf(" in %s ", array->shard_depth ? "shards" : "chunks");
        print_shape(array->ndim, array->chunk_shape);
    }
    if (entry->reason) {
        printf("  ");
        print_text(entry->reason);
    }
    putchar('\n');
}

static void print_line(const listing *l, const zb_entry *entry) {
    print_color(l->call, color_of(entry));
    printf("%-10s", kind_of(entry));
    print_plain(l->call);
    printf(" /");
    print_text(entry->path);
    print_facts(entry);
}

/* The last name of a path. */
static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_branch(listing *l, const zb_entry *entry, size_t depth) {
    for (size_t i = 1; i < depth; i++)
        fputs(i < MOST_BRANCHES && l->branch[i] ? "│   " : "    ", stdout);
    if (depth > 0)
        fputs(entry->is_last ? "└── " : "├── ", stdout);
    if (depth < MOST_BRANCHES)
        l->branch[depth] = !entry->is_last;
    print_color(l->call, color_of(entry));
    if (depth == 0)
        putchar('/');
    print_text(depth > 0 ? name_of(entry->path) : entry->path);
    print_plain(l->call);
    print_facts(entry);
}

static int report_entry(listing *l, const zb_entry *entry) {
    const zb_array_info *array = entry->array;
    char name[ZB_DTYPE_NAME_SIZE];
    zb_json_writer *w = report_object(l->call);
    report_path(w, entry->path);
    report_text(w, "kind", kind_of(entry));
    if (entry->reason)
        report_text(w, "reason", entry->reason);
    else
        report_number(w, "format", (uint64_t)entry->format);
    if (array) {
        report_text(w, "type", zb_dtype_name(array->dtype, name));
        report_extents(w, "shape", array->shape, array->ndim);
        report_extents(w, "shards", array->shard_depth ? array->chunk_shape : NULL, array->ndim);
        report_extents(w, "chunks", array->inner_shape, array->ndim);
    }
    return report_item(&l->report, w);
}

static size_t depth_of(const listing *l, const char *path) {
    size_t depth = 0;
    for (const char *at = path + l->start; *at; at++)
        depth += *at == '/';
    return depth + (l->start == 0 && *path);
}

static int take_entry(void *context, const zb_entry *entry) {
    listing *l = context;
    const size_t depth = depth_of(l, entry->path);
    l->nodes++;
    l->unreadable += entry->reason != NULL;
    if (l->call->json && report_entry(l, entry))
        return 1;
    if (!l->call->json && l->is_tree)
        print_branch(l, entry, depth);
    else if (!l->call->json)
        print_line(l, entry);
    if (ferror(stdout))
        return 1;
    return depth >= l->depth ? ZB_WALK_PAST : 0;
}

static int list(const cli_call *call, bool is_tree) {
    place where;
    zb_error err;
    const char *depth = cli_option(call, 'd');
    listing l = {.call = call, .is_tree = is_tree, .depth = UINT64_MAX};
    if (depth && !cli_number(depth, &l.depth))
        return cli_misuse(call, "--depth=%s: expected a number of levels", depth);
    enum zb_code code = place_find(call->arguments[0], NULL, &where, &err);
    l.report = report_begin(call, "nodes");
    if (!code) {
        l.start = strlen(where.node);
        code = zb_node_each(where.hierarchy, where.node, take_entry, &l, &err);
    }
    place_clear(&where);
    if (code)
        return report_fail(&l.report, &err);
    zb_json_writer *sum = report_object(call);
    report_number(sum, "nodes", l.nodes);
    report_number(sum, "unreadable", l.unreadable);
    const int status = report_end(&l.report, sum, l.unreadable ? CLI_FOUND : CLI_FINE);
    if (status != CLI_FAILED)
        cli_say(call, "%" PRIu64 " nodes, %" PRIu64 " of them unreadable\n", l.nodes, l.unreadable);
    return status;
}

static int run_ls(const cli_call *call) {
    return list(call, false);
}

static int run_tree(const cli_call *call) {
    return list(call, true);
}

#define FOUND "a node cannot be read; the list says which and why"

static const cli_example keys[] = {
    {"nodes[].path", "the path from the root, as /a/b"},
    {"nodes[].kind", "group, array or unreadable"},
    {"nodes[].format", "the version of Zarr, 2 or 3; not of what is unreadable"},
    {"nodes[].reason", "why it is unreadable; else absent"},
    {"nodes[].type", "of an array: the data type"},
    {"nodes[].shape", "of an array: the shape"},
    {"nodes[].shards", "of an array: the shape of its shards; null where it has none"},
    {"nodes[].chunks",
     "of an array: the shape of the chunks, those in the shards where it has some"},
    {"summary.nodes", "how many nodes"},
    {"summary.unreadable", "how many of them are unreadable"},
    {0}};

static const struct argp_option options[] = {
    {"depth", 'd', "LEVELS", 0, "Show so many levels below the node, and look no deeper", 0}, {0}};

const cli_command command_ls = {
    .name = "ls",
    .arguments = "STORE[/NODE]",
    .least = 1,
    .most = 1,
    .summary = "list a node and all below it, one on a line",
    .description =
        "A line has the kind of the node, its path, and of an array its data type, its shape, and "
        "the shape of its shards, or of its chunks where it has no shards. Nodes are printed as "
        "they are found, groups before what is in them, names in bytewise order. A node whose "
        "metadata cannot be read is listed with the reason.",
    .options = options,
    .examples =
        (const cli_example[]){
            {"zarrbridge ls x.zarr", "all nodes"},
            {"zarrbridge ls -d 1 https://host/x.zarr", "those at the top of a store on the web"},
            {"zarrbridge ls --json x.zarr | jq -r '.nodes[].path'", "paths for a script"},
            {0}},
    .keys = keys,
    .found = FOUND,
    .run = run_ls,
};

const cli_command command_tree = {
    .name = "tree",
    .arguments = "STORE[/NODE]",
    .least = 1,
    .most = 1,
    .summary = "draw a node and all below it as a tree",
    .description = "The facts are those of ls. With --json the document is that of ls, too.",
    .options = options,
    .examples = (const cli_example[]){{"zarrbridge tree x.zarr", "the whole store"},
                                      {"zarrbridge tree -d 2 x.zarr/model", "two levels below a "
                                                                            "group"},
                                      {0}},
    .keys = keys,
    .found = FOUND,
    .run = run_tree,
};

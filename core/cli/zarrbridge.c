/* SPDX-License-Identifier: MIT */
/*
 * The program `zarrbridge`: looks after stores from the command line.
 *
 * Findings go to standard output, one a line; what it did in all, and errors, to standard error. It
 * uses the public headers alone.
 */
#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "info.h"
#include "print.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

/* Exit codes, as of grep and diff. */
enum { FINE = 0, FOUND = 1, FAILED = 2 };

static int fail(const zb_error *err) {
    fprintf(stderr, "zarrbridge: %s\n", err->message);
    return FAILED;
}

static void print_line(const zb_finding *finding) {
    print_text(finding->key);
    printf(": ");
    print_text(finding->message);
    putchar('\n');
}

static int print_finding(void *context, const zb_finding *finding) {
    (void)context;
    printf("%-9s ", zb_finding_name(finding->kind));
    print_line(finding);
    return 0;
}

/* A store whose root has no document may have nodes below; one that is something else has not. */
static enum zb_code open_store(const char *path, zb_hierarchy **out, zb_error *err) {
    zb_node *root = NULL;
    zb_object_info info;
    enum zb_code code = zb_hierarchy_open(path, out, err);
    if (code)
        return code;
    if (zb_store_stat(zb_hierarchy_store(*out), "zarr.json", &info, NULL) == ZB_ENOTFOUND &&
        zb_node_open(*out, "", &root, err) == ZB_EUNSUPPORTED)
        code = ZB_EUNSUPPORTED;
    zb_node_release(root);
    if (code)
        zb_hierarchy_release(*out);
    return code;
}

static int verify(const char *path) {
    zb_hierarchy *hierarchy;
    zb_error err;
    zb_verify_summary sum;
    if (open_store(path, &hierarchy, &err))
        return fail(&err);
    enum zb_code code = zb_hierarchy_verify(hierarchy, print_finding, NULL, &sum, &err);
    zb_hierarchy_release(hierarchy);
    if (code)
        return fail(&err);
    fprintf(stderr,
            "%" PRIu64 " nodes, %" PRIu64 " chunks or shards with %" PRIu64
            " encoded chunks in %" PRIu64 " bytes: %" PRIu64 " findings",
            sum.nodes, sum.objects, sum.inner_chunks, sum.bytes, sum.findings);
    if (sum.foreign > 0)
        fprintf(stderr, ", %" PRIu64 " foreign files", sum.foreign);
    fprintf(stderr, "\n");
    if (sum.nodes == 0)
        fprintf(stderr, "zarrbridge: '%s' is not a store: no group and no array could be checked\n",
                path);
    return sum.findings ? FOUND : sum.nodes == 0 ? FAILED : FINE;
}

static int print_mended(void *context, const zb_finding *finding) {
    ++*(uint64_t *)context;
    print_line(finding);
    return 0;
}

static int repair(const char *path) {
    zb_hierarchy *hierarchy;
    zb_error err;
    uint64_t mended = 0;
    if (open_store(path, &hierarchy, &err))
        return fail(&err);
    enum zb_code code = zb_hierarchy_repair(hierarchy, print_mended, &mended, &err);
    if (!code)
        code = zb_hierarchy_flush(hierarchy, &err);
    zb_hierarchy_release(hierarchy);
    if (code)
        return fail(&err);
    fprintf(stderr, "%" PRIu64 " things mended\n", mended);
    return FINE;
}

/* An array's directory is a store whose root is the array; its locks are the same files. */
static int compact(const char *path) {
    zb_hierarchy *hierarchy;
    zb_node *node = NULL;
    zb_error err;
    uint64_t reclaimed = 0;
    if (zb_hierarchy_open(path, &hierarchy, &err))
        return fail(&err);
    enum zb_code code = zb_node_open(hierarchy, "", &node, &err);
    if (!code && !zb_node_array(node))
        code = zb_fail(&err, ZB_EINVAL, "'%s' is a group; give the path of an array", path);
    if (!code)
        code = zb_array_compact(node, ZB_SYNC_CLOSE, &reclaimed, &err);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    if (code)
        return fail(&err);
    fprintf(stderr, "%" PRIu64 " bytes reclaimed\n", reclaimed);
    return FINE;
}

/* A node, and the store of the hierarchy that it is or will be in: that one's lock and consolidated
   metadata are concerned. */
typedef struct place {
    zb_hierarchy *hierarchy;
    char *root, *node;
} place;

static bool holds_document(void *unused, const char *directory) {
    static const char *const documents[] = {"zarr.json", ".zgroup", ".zarray"};
    bool found = false;
    (void)unused;
    for (size_t i = 0; i < sizeof documents / sizeof *documents && !found; i++) {
        char *name;
        if (asprintf(&name, "%s/%s", directory, documents[i]) < 0)
            return false;
        found = access(name, F_OK) == 0;
        free(name);
    }
    return found;
}

static void place_clear(place *where) {
    zb_hierarchy_release(where->hierarchy);
    free(where->root);
    free(where->node);
}

static int remove_if_empty(const char *path, const struct stat *info, int type, struct FTW *at) {
    (void)info, (void)at;
    if (type == FTW_DP)
        (void)rmdir(path);
    return 0;
}

/* Directories that were made for a copy go with the failure; those with content stay. */
static void place_take_back(place *where, const char *target, bool is_new) {
    zb_hierarchy_release(where->hierarchy);
    where->hierarchy = NULL;
    if (is_new)
        (void)nftw(target, remove_if_empty, 16, FTW_DEPTH | FTW_PHYS);
}

/* other: a place whose store is shared when it is the same; NULL opens the store and creates
   none. */
static enum zb_code place_find(const char *path, const place *other, place *out, zb_error *err) {
    *out = (place){.hierarchy = NULL};
    enum zb_code code = zb_path_split(path, holds_document, NULL, &out->root, &out->node, err);
    if (code)
        return code;
    char *root = realpath(out->root, NULL), *used = other ? realpath(other->root, NULL) : NULL;
    if (root && used && strcmp(root, used) == 0)
        out->hierarchy = zb_hierarchy_retain(other->hierarchy);
    else
        code = other ? zb_hierarchy_create(out->root, NULL, &out->hierarchy, err)
                     : zb_hierarchy_open(out->root, &out->hierarchy, err);
    free(root);
    free(used);
    return code;
}

/* The block stands in the group's own document, so that the group may be a store by itself. */
static int consolidate(const char *path) {
    place where;
    zb_error err;
    enum zb_code code = place_find(path, NULL, &where, &err);
    if (!code) {
        zb_hierarchy_set_sync(where.hierarchy, ZB_SYNC_CLOSE);
        code = zb_group_consolidate(where.hierarchy, where.node, &err);
    }
    if (!code)
        code = zb_hierarchy_flush(where.hierarchy, &err);
    place_clear(&where);
    if (code)
        return fail(&err);
    fprintf(stderr, "%s has consolidated metadata\n", path);
    return FINE;
}

/* A node with all below it becomes the root of an archive. */
static enum zb_code pack(const char *source, const char *target, zb_error *err) {
    zb_hierarchy *hierarchy;
    zb_node *root = NULL;
    if (access(target, F_OK) == 0)
        return zb_fail(err, ZB_ECONFLICT, "there is a file '%s' already", target);
    enum zb_code code = open_store(source, &hierarchy, err);
    if (code)
        return code;
    code = zb_node_open(hierarchy, "", &root, err);
    if (!code)
        code = zb_hierarchy_pack(hierarchy, target, err);
    zb_node_release(root);
    zb_hierarchy_release(hierarchy);
    return code;
}

static enum zb_code copy_node(const char *source, const char *target, zb_error *err) {
    place from, to = {.hierarchy = NULL};
    const bool is_new = access(target, F_OK) != 0;
    enum zb_code code = place_find(source, NULL, &from, err);
    if (!code)
        code = place_find(target, &from, &to, err);
    if (!code) {
        zb_hierarchy_set_sync(to.hierarchy, ZB_SYNC_CLOSE);
        code = zb_node_copy(from.hierarchy, from.node, to.hierarchy, to.node, err);
    }
    if (!code)
        code = zb_hierarchy_commit(to.hierarchy, err);
    if (!code)
        code = zb_hierarchy_flush(to.hierarchy, err);
    if (!code && !zb_hierarchy_can_list(from.hierarchy))
        fprintf(stderr,
                "zarrbridge: %s cannot be listed: files besides nodes and chunks are not "
                "known, and not copied\n",
                source);
    if (code)
        place_take_back(&to, target, is_new);
    place_clear(&to);
    place_clear(&from);
    return code;
}

static int copy(const char *source, const char *target) {
    zb_error err;
    const bool to_zip = !zb_name_is_url(target) && zb_path_becomes_zip(target);
    if (to_zip ? pack(source, target, &err) : copy_node(source, target, &err))
        return fail(&err);
    fprintf(stderr, "%s is a copy of %s\n", target, source);
    return FINE;
}

typedef struct listed {
    uint64_t nodes, unreadable;
} listed;

static int print_entry(void *context, const zb_entry *entry) {
    listed *sum = context;
    const zb_array_info *array = entry->array;
    char name[ZB_DTYPE_NAME_SIZE];
    sum->nodes++;
    sum->unreadable += entry->reason != NULL;
    printf("%-10s /", entry->reason ? "unreadable" : array ? "array" : "group");
    print_text(entry->path);
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
    return ferror(stdout);
}

static int list(const char *path) {
    place where;
    zb_error err;
    listed sum = {.nodes = 0};
    enum zb_code code = place_find(path, NULL, &where, &err);
    if (!code)
        code = zb_node_each(where.hierarchy, where.node, print_entry, &sum, &err);
    place_clear(&where);
    if (!code && (fflush(stdout) || ferror(stdout)))
        code = zb_fail(&err, ZB_EIO, "cannot write the list");
    if (code)
        return fail(&err);
    fprintf(stderr, "%" PRIu64 " nodes, %" PRIu64 " of them unreadable\n", sum.nodes,
            sum.unreadable);
    return sum.unreadable ? FOUND : FINE;
}

static int info(const char *path) {
    place where;
    zb_error err;
    zb_node *node = NULL;
    enum zb_code code = place_find(path, NULL, &where, &err);
    if (!code)
        code = zb_node_open(where.hierarchy, where.node, &node, &err);
    if (!code)
        code = info_print(node, &err);
    zb_node_release(node);
    place_clear(&where);
    if (!code && (fflush(stdout) || ferror(stdout)))
        code = zb_fail(&err, ZB_EIO, "cannot write the description");
    return code ? fail(&err) : FINE;
}

static int usage(FILE *out, int status) {
    fputs("usage: zarrbridge ls STORE[/NODE]      list the node and all below it\n"
          "       zarrbridge info STORE[/NODE]    describe one node\n"
          "       zarrbridge verify STORE         decode every chunk; list what is damaged,\n"
          "                                       truncated, orphaned or stale, and foreign files\n"
          "       zarrbridge repair STORE         remove what killed writers left, undo by their\n"
          "                                       journals, refresh consolidated metadata\n"
          "       zarrbridge compact STORE/ARRAY  rewrite shards that carry garbage\n"
          "       zarrbridge consolidate STORE[/GROUP]\n"
          "                                       put the metadata of all nodes into the group's,\n"
          "                                       for readers that cannot list it (web servers)\n"
          "       zarrbridge copy STORE NEW       copy a store or a node of one; what is Zarr "
          "version\n"
          "                                       2 becomes version 3; a NEW that ends in\n"
          "                                       .zip or .ozx becomes an archive of it\n"
          "       zarrbridge --version\n"
          "\n"
          "Exit status: 0 all is well, 1 verify found something or ls an unreadable node, 2 an\n"
          "error.\n",
          out);
    return status;
}

typedef struct command {
    const char *name;
    int arguments;
    int (*run)(const char *path);
    int (*run_two)(const char *source, const char *target);
} command;

static const command commands[] = {
    {"ls", 1, list, NULL},         {"info", 1, info, NULL},
    {"verify", 1, verify, NULL},   {"repair", 1, repair, NULL},
    {"compact", 1, compact, NULL}, {"consolidate", 1, consolidate, NULL},
    {"copy", 2, NULL, copy},
};

static bool asks_for_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static int misused(const command *known, int argc, char **argv) {
    if (argc < 2)
        return usage(stderr, FAILED);
    if (known)
        fprintf(stderr, "zarrbridge: %s takes %d argument%s, and got %d\n\n", known->name,
                known->arguments, known->arguments == 1 ? "" : "s", argc - 2);
    else
        fprintf(stderr, "zarrbridge: there is no command '%s'\n\n", argv[1]);
    return usage(stderr, FAILED);
}

int main(int argc, char **argv) {
    const command *known = NULL;
    if (asks_for_help(argc, argv))
        return usage(stdout, FINE);
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("zarrbridge %s\n", zb_version()) < 0 ? FAILED : FINE;
    for (size_t i = 0; argc >= 2 && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            known = &commands[i];
    }
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] == '-') {
            fprintf(stderr, "zarrbridge: there is no option '%s' (a path would be ./%s)\n", argv[i],
                    argv[i]);
            return FAILED;
        }
    }
    if (!known || argc != 2 + known->arguments)
        return misused(known, argc, argv);
    return known->run ? known->run(argv[2]) : known->run_two(argv[2], argv[3]);
}

/* SPDX-License-Identifier: MIT */
/* `info`: the facts about one node. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "place.h"
#include "print.h"
#include "report.h"
#include "zarrbridge/sys/store.h"

static void print_label(const char *label) {
    printf("  %-12s", label);
}

/* A value of the document, as JSON on one line. */
static void print_member(const zb_node *node, const char *label, const char *name) {
    const zb_json *value = zb_json_get(zb_node_document(node), name);
    char *text = value ? zb_json_print(value) : NULL;
    if (text) {
        print_label(label);
        print_text(text);
        putchar('\n');
    }
    free(text);
}

/* chunk_shape and inner_shape are those of the largest chunk. */
static void print_chunks(const zb_node *node, const char *label, const uint64_t *shape) {
    const uint32_t ndim = zb_node_array(node)->ndim;
    bool varies = false;
    for (uint32_t d = 0; d < ndim; d++)
        varies |= zb_array_run_count(node, d) > 0;
    print_label(label);
    print_shape(ndim, shape);
    puts(varies ? " at most" : "");
}

static void print_dimensions(const zb_array_info *array) {
    if (!array->dimension_names)
        return;
    print_label("dimensions");
    for (uint32_t d = 0; d < array->ndim; d++) {
        fputs(d ? ", " : "", stdout);
        print_text(array->dimension_names[d] ? array->dimension_names[d] : "-");
    }
    putchar('\n');
}

/* The chunks of a store on the network would be asked for one by one. */
static enum zb_code print_size(const zb_node *node, zb_error *err) {
    uint64_t bytes;
    if (!zb_hierarchy_is_local(zb_node_hierarchy(node)))
        return ZB_OK;
    const enum zb_code code = zb_array_storage_size(node, &bytes, err);
    if (!code)
        printf("  %-12s%" PRIu64 " bytes\n", "stored", bytes);
    return code;
}

static void print_array(const zb_node *node, const zb_array_info *array) {
    char type[512];
    printf("  %-12s", "type");
    print_text(zb_dtype_print(array->dtype, type, sizeof type));
    printf("\n  %-12s", "shape");
    print_shape(array->ndim, array->shape);
    putchar('\n');
    if (array->shard_depth)
        print_chunks(node, "shards", array->chunk_shape);
    print_chunks(node, "chunks", array->inner_shape);
    print_member(node, "codecs", "codecs");
    print_member(node, "fill value", "fill_value");
    print_dimensions(array);
}

static void print_attributes(const zb_node *node) {
    const zb_json *first = zb_json_first(zb_node_attributes(node));
    if (first)
        print_label("attributes");
    for (const zb_json *at = first; at; at = zb_json_next(at)) {
        fputs(at == first ? "" : ", ", stdout);
        print_text(zb_json_name(at));
    }
    if (first)
        putchar('\n');
}

static enum zb_code print_node(const zb_node *node, zb_error *err) {
    const zb_array_info *array = zb_node_array(node);
    printf("%s /", array ? "array" : "group");
    print_text(zb_node_path(node));
    printf("\n  %-12sZarr version %d\n", "format", zb_node_format(node));
    if (array)
        print_array(node, array);
    print_attributes(node);
    return array ? print_size(node, err) : ZB_OK;
}

static int info(const cli_call *call) {
    place where;
    zb_error err;
    zb_node *node;
    report doc = report_begin(call, NULL);
    enum zb_code code = place_open(call->arguments[0], &where, &node, &err);
    if (!code)
        code = print_node(node, &err);
    zb_node_release(node);
    place_clear(&where);
    return code ? report_fail(&doc, &err) : report_end(&doc, report_object(call), CLI_FINE);
}

const cli_command command_info = {
    .name = "info",
    .arguments = "STORE[/NODE]",
    .least = 1,
    .most = 1,
    .summary = "describe one node",
    .description = "No data are read.",
    .run = info,
};

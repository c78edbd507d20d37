/* SPDX-License-Identifier: MIT */
/* `info`: the facts about one node. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec_words.h"
#include "commands.h"
#include "place.h"
#include "print.h"
#include "report.h"
#include "zarrbridge/node.h"

/* Sizes that are known; a size of UINT64_MAX is not. */
typedef struct sizes {
    uint64_t decoded, chunks, inner_chunks; /* that the shape gives */
    zb_stored stored;
} sizes;

static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t result;
    return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

static uint64_t count_chunks(const zb_node *node, enum zb_grid_level level) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < zb_node_array(node)->ndim; d++)
        count = product(count, zb_array_chunk_count(node, level, d));
    return count;
}

/* The chunks of a store on the network would be asked for one by one. */
static enum zb_code measure(const zb_node *node, sizes *out, zb_error *err) {
    const zb_array_info *array = zb_node_array(node);
    *out = (sizes){.decoded = zb_dtype_is_variable(array->dtype) ? UINT64_MAX : array->dtype.size,
                   .chunks = count_chunks(node, ZB_GRID_CHUNKS),
                   .inner_chunks = count_chunks(node, ZB_GRID_INNER),
                   .stored = {UINT64_MAX, UINT64_MAX}};
    for (uint32_t d = 0; d < array->ndim && out->decoded != UINT64_MAX; d++)
        out->decoded = product(out->decoded, array->shape[d]);
    return zb_hierarchy_is_local(zb_node_hierarchy(node)) ? zb_array_stored(node, &out->stored, err)
                                                          : ZB_OK;
}

static bool has_ratio(const sizes *size) {
    return size->decoded != UINT64_MAX && size->stored.bytes != UINT64_MAX &&
           size->stored.bytes > 0;
}

static double ratio(const sizes *size) {
    return (double)size->decoded / (double)size->stored.bytes;
}

static bool varies(const zb_node *node) {
    bool any = false;
    for (uint32_t d = 0; d < zb_node_array(node)->ndim; d++)
        any |= zb_array_run_count(node, d) > 0;
    return any;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void print_label(const char *label) {
    printf("  %-12s", label);
}

/* A value of the document, as JSON on one line. */
static void print_value(const char *label, const zb_json *value) {
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
    print_label(label);
    print_shape(zb_node_array(node)->ndim, shape);
    puts(varies(node) ? " at most" : "");
}

static void print_counts(const zb_array_info *array, const sizes *size) {
    if (size->inner_chunks == UINT64_MAX)
        return;
    print_label("in all");
    if (array->shard_depth)
        printf("%" PRIu64 " shards, ", size->chunks);
    printf("%" PRIu64 " chunks\n", size->inner_chunks);
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

static void print_sizes(const zb_array_info *array, const sizes *size) {
    if (size->decoded != UINT64_MAX) {
        print_label("decoded");
        print_bytes(size->decoded);
        putchar('\n');
    }
    if (size->stored.bytes == UINT64_MAX)
        return;
    print_label("stored");
    print_bytes(size->stored.bytes);
    printf(" in %" PRIu64, size->stored.chunks);
    if (size->chunks != UINT64_MAX)
        printf(" of %" PRIu64, size->chunks);
    puts(array->shard_depth ? " shards" : " chunks");
    if (has_ratio(size)) {
        print_label("ratio");
        printf("%.2f\n", ratio(size));
    }
}

static void print_array(const zb_node *node, const zb_array_info *array, const sizes *size) {
    char type[512];
    print_label("type");
    print_text(zb_dtype_print(array->dtype, type, sizeof type));
    putchar('\n');
    print_label("shape");
    print_shape(array->ndim, array->shape);
    putchar('\n');
    if (array->shard_depth)
        print_chunks(node, "shards", array->chunk_shape);
    print_chunks(node, "chunks", array->inner_shape);
    print_counts(array, size);
    print_label("codecs");
    print_codecs(array);
    putchar('\n');
    print_value("fill value", zb_json_get(zb_node_document(node), "fill_value"));
    print_dimensions(array);
}

/* values: each on a line of its own, else their names alone. */
static void print_attributes(const zb_node *node, bool values) {
    const zb_json *first = zb_json_first(zb_node_attributes(node));
    if (!first)
        return;
    print_label("attributes");
    for (const zb_json *at = first; at; at = zb_json_next(at)) {
        char *text = values ? zb_json_print(at) : NULL;
        fputs(values ? "\n    " : at == first ? "" : ", ", stdout);
        print_text(zb_json_name(at));
        fputs(text ? ": " : "", stdout);
        print_text(text ? text : "");
        free(text);
    }
    putchar('\n');
}

static void print_node(const cli_call *call, const zb_node *node, const sizes *size) {
    const zb_array_info *array = zb_node_array(node);
    print_color(call, array ? PRINT_ARRAY : PRINT_GROUP);
    fputs(array ? "array" : "group", stdout);
    print_plain(call);
    fputs(" /", stdout);
    print_text(zb_node_path(node));
    putchar('\n');
    print_label("format");
    printf("Zarr version %d\n", zb_node_format(node));
    if (array)
        print_array(node, array, size);
    print_attributes(node, cli_option(call, 'a') != NULL);
    if (array)
        print_sizes(array, size);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void report_size(zb_json_writer *w, const char *name, uint64_t value) {
    if (value != UINT64_MAX)
        report_number(w, name, value);
    else
        report_text(w, name, NULL);
}

static void report_names(zb_json_writer *w, const zb_array_info *array) {
    if (!array->dimension_names) {
        report_text(w, "dimension_names", NULL);
        return;
    }
    zb_json_write_name(w, "dimension_names");
    zb_json_begin_array(w);
    for (uint32_t d = 0; d < array->ndim; d++) {
        if (array->dimension_names[d])
            zb_json_write_string(w, array->dimension_names[d]);
        else
            zb_json_write_null(w);
    }
    zb_json_end_array(w);
}

static void report_array(zb_json_writer *w, const zb_node *node, const sizes *size) {
    const zb_array_info *array = zb_node_array(node);
    char type[512];
    report_text(w, "type", zb_dtype_print(array->dtype, type, sizeof type));
    report_extents(w, "shape", array->shape, array->ndim);
    report_extents(w, "shards", array->shard_depth ? array->chunk_shape : NULL, array->ndim);
    report_extents(w, "chunks", array->inner_shape, array->ndim);
    report_flag(w, "chunks_vary", varies(node));
    report_value(w, "codecs", zb_json_get(zb_node_document(node), "codecs"));
    report_value(w, "fill_value", zb_json_get(zb_node_document(node), "fill_value"));
    report_names(w, array);
    report_size(w, "chunks_in_all", size->inner_chunks);
    report_size(w, "objects_in_all", size->chunks);
    report_size(w, "objects_stored", size->stored.chunks);
    report_size(w, "bytes_decoded", size->decoded);
    report_size(w, "bytes_stored", size->stored.bytes);
    zb_json_write_name(w, "ratio");
    if (has_ratio(size))
        zb_json_write_double(w, ratio(size));
    else
        zb_json_write_null(w);
}

static zb_json_writer *report_node(const cli_call *call, const zb_node *node, const sizes *size) {
    zb_json_writer *w = report_object(call);
    report_path(w, zb_node_path(node));
    report_text(w, "kind", zb_node_array(node) ? "array" : "group");
    report_number(w, "format", (uint64_t)zb_node_format(node));
    if (zb_node_array(node))
        report_array(w, node, size);
    report_value(w, "attributes", zb_node_attributes(node));
    return w;
}

/* ---- The subcommand ------------------------------------------------------------------------- */

static int info(const cli_call *call) {
    place where;
    zb_error err;
    zb_node *node;
    sizes size = {.decoded = 0};
    zb_json_writer *w = NULL;
    report doc = report_begin(call, NULL);
    enum zb_code code = place_open(call->arguments[0], &where, &node, &err);
    if (!code && zb_node_array(node))
        code = measure(node, &size, &err);
    if (!code && call->json)
        w = report_node(call, node, &size);
    else if (!code)
        print_node(call, node, &size);
    zb_node_release(node);
    place_clear(&where);
    return code ? report_fail(&doc, &err) : report_end(&doc, w, CLI_FINE);
}

static const struct argp_option options[] = {
    {"attributes", 'a', NULL, 0, "Show the values of the attributes, too", 0}, {0}};

const cli_command command_info = {
    .name = "info",
    .arguments = "STORE[/NODE]",
    .least = 1,
    .most = 1,
    .summary = "describe one node: shape, type, chunks, codecs, sizes",
    .description =
        "Of an array these are the data type, the shape, shards and chunks with their numbers, "
        "the codecs, the size of the decoded data, that of the stored ones, how many of all chunks "
        "or shards are stored (the others read as the fill value), and how many times smaller the "
        "stored data are. No data are read. The chunks of a store on the network are not counted. "
        "With --json the members attributes, codecs and fill_value are those of zarr.json, and "
        "what is not known is null.",
    .options = options,
    .examples =
        (const cli_example[]){
            {"zarrbridge info x.zarr/temperature", "an array"},
            {"zarrbridge info -a x.zarr", "the root, and what its attributes say"},
            {"zarrbridge info --json x.zarr/a | jq .ratio", "one fact for a script"},
            {0}},
    .keys =
        (const cli_example[]){
            {"path", "the path from the root, as /a/b"},
            {"kind", "group or array"},
            {"format", "the version of Zarr, 2 or 3"},
            {"type", "of an array, as all up to ratio: the data type"},
            {"shape", "the shape"},
            {"shards", "the shape of its shards; null where it has none"},
            {"chunks", "the shape of the chunks, those in the shards where it has some"},
            {"chunks_vary",
             "true where chunks have several shapes; the two above are those of the largest then"},
            {"codecs", "as in zarr.json; of version 2, as version 3 would say it"},
            {"fill_value", "as in zarr.json"},
            {"dimension_names", "as in zarr.json; null where it has none"},
            {"chunks_in_all", "how many chunks the shape makes"},
            {"objects_in_all", "how many objects those are: shards, or chunks without shards"},
            {"objects_stored", "how many of them are in the store"},
            {"bytes_decoded", "the size of all elements; null where they have no fixed size"},
            {"bytes_stored", "the size of the stored objects"},
            {"ratio", "bytes_decoded by bytes_stored"},
            {"attributes", "an object, as in zarr.json"},
            {0}},
    .run = info,
};

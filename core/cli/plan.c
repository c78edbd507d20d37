/* SPDX-License-Identifier: MIT */
/* `plan`: pieces of an array for workers that never wait for each other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "place.h"
#include "print.h"
#include "report.h"
#include "zarrbridge/write.h"

enum { KEY_PIECES = 256, KEY_PIECE };

/* ---- Regions ---- */

/* A bound as in "10:20"; without a number the other end. False: another sign follows, or the number
   is too large. */
static bool parse_bound(const char **at, uint64_t without, uint64_t *out) {
    if (**at >= '0' && **at <= '9')
        return cli_take_number(at, out);
    *out = without;
    return true;
}

/* "10:20,:,5": a slice or an index for each dimension, as in NumPy. Dimensions without one are
   whole. */
static bool parse_region(const char *text, const zb_array_info *array, uint64_t *start,
                         uint64_t *stop) {
    for (uint32_t d = 0; d < array->ndim; d++) {
        start[d] = 0;
        stop[d] = array->shape[d];
    }
    for (uint32_t d = 0; *text; d++) {
        if (d == array->ndim || !parse_bound(&text, 0, &start[d]))
            return false;
        stop[d] = start[d] + 1;
        if (*text == ':' && (text++, !parse_bound(&text, array->shape[d], &stop[d])))
            return false;
        if (stop[d] < start[d] || stop[d] > array->shape[d] || (*text && *text != ','))
            return false;
        text += *text == ',';
    }
    return true;
}

/* ---- Pieces ---- */

typedef struct plan {
    const cli_call *call;
    report doc;
    const char *unit; /* what the pieces are made of */
    uint32_t ndim;
    uint64_t item;         /* bytes of an element */
    const char *only;      /* of --piece; NULL: all */
    uint64_t wanted;       /* its number */
    uint64_t count, whole; /* pieces so far, and those of whole shards */
    bool failed;           /* standard output takes no more */
} plan;

static void print_slices(const plan *p, const zb_piece *piece) {
    for (uint32_t d = 0; d < p->ndim; d++)
        printf("%s%" PRIu64 ":%" PRIu64, d ? "," : "", piece->start[d],
               piece->start[d] + piece->count[d]);
    if (piece->is_whole)
        putchar('\n');
    else
        printf("  (a part of its %s)\n", p->unit);
}

static void report_piece(plan *p, const zb_piece *piece, uint64_t number) {
    uint64_t stop[ZB_MAX_NDIM], elements = 1;
    zb_json_writer *w = report_object(p->call);
    for (uint32_t d = 0; d < p->ndim; d++) {
        stop[d] = piece->start[d] + piece->count[d];
        elements *= piece->count[d];
    }
    report_number(w, "number", number);
    report_extents(w, "start", piece->start, p->ndim);
    report_extents(w, "stop", stop, p->ndim);
    report_flag(w, "whole", piece->is_whole);
    report_number(w, "bytes", elements * p->item);
    p->failed = report_item(&p->doc, w) != 0;
}

static int take(void *context, const zb_piece *piece) {
    plan *p = context;
    const uint64_t number = p->count++;
    p->whole += piece->is_whole;
    if (p->only && number != p->wanted)
        return 0;
    if (p->call->json)
        report_piece(p, piece, number);
    else
        print_slices(p, piece);
    return p->failed;
}

static int tell(plan *p, const zb_node *node) {
    const zb_array_info *array = zb_node_array(node);
    zb_json_writer *w = report_object(p->call);
    report_text(w, "array", p->call->arguments[0]);
    report_extents(w, "shape", array->shape, array->ndim);
    report_extents(w, "unit", array->chunk_shape, array->ndim);
    report_number(w, "pieces", p->count);
    report_number(w, "whole", p->whole);
    if (p->only &&
        p->wanted >= p->count) /* more workers than shards: the last have nothing to do */
        cli_say(p->call, "there are %" PRIu64 " pieces, and no piece %s\n", p->count, p->only);
    else if (!p->only)
        cli_say(p->call, "%" PRIu64 " piece%s, %" PRIu64 " of whole %s\n", p->count,
                p->count == 1 ? "" : "s", p->whole, p->unit);
    return report_end(&p->doc, w, CLI_FINE);
}

static int cut(const cli_call *call, plan *p, const zb_node *node, uint64_t most, zb_error *err) {
    const zb_array_info *array = zb_node_array(node);
    uint64_t start[ZB_MAX_NDIM], stop[ZB_MAX_NDIM], count[ZB_MAX_NDIM];
    const char *region = call->count > 1 ? call->arguments[1] : "";
    if (!parse_region(region, array, start, stop))
        return cli_misuse(call,
                          "'%s' is no region of an array with %" PRIu32 " dimensions, as "
                          "0:100,: is, or leaves it",
                          region, array->ndim);
    for (uint32_t d = 0; d < array->ndim; d++)
        count[d] = stop[d] - start[d];
    p->unit = array->shard_depth ? "shards" : "chunks";
    p->ndim = array->ndim;
    p->item = array->dtype.size;
    return zb_array_piece_each(node, start, count, most, take, p, err) ? report_fail(&p->doc, err)
                                                                       : tell(p, node);
}

static int run(const cli_call *call) {
    const char *pieces = cli_option(call, KEY_PIECES);
    plan p = {.call = call, .only = cli_option(call, KEY_PIECE)};
    uint64_t most = 0;
    place where;
    zb_node *node;
    zb_error err;
    if (pieces && (!cli_number(pieces, &most) || most == 0))
        return cli_misuse(call, "--pieces %s: not a number of pieces", pieces);
    if (p.only && !cli_number(p.only, &p.wanted))
        return cli_misuse(call, "--piece %s: not the number of a piece, which begin at 0", p.only);
    p.doc = report_begin(call, "pieces");
    const int status = place_open_array(call->arguments[0], &where, &node, &err)
                           ? report_fail(&p.doc, &err)
                           : cut(call, &p, node, most, &err);
    zb_node_release(node);
    place_clear(&where);
    return status;
}

const cli_command command_plan = {
    .name = "plan",
    .arguments = "STORE/ARRAY [REGION]",
    .least = 1,
    .most = 2,
    .summary = "cut an array into pieces that workers write alone",
    .description =
        "Prints boxes of whole shards, or of chunks where there are no shards, one a line: "
        "0:512,0:1024 is a slice for each dimension. No shard is in two pieces, so that workers "
        "which each write their own never wait for each other, and need no locks. The same "
        "arguments give the same pieces on each machine.\n\n"
        "REGION is a slice or an index for each dimension, as 0:100,: of the first hundred rows. "
        "Where it cuts shards, the pieces at its edge say so: what is beside the region is read "
        "and stored again with them.",
    .options =
        (const struct argp_option[]){
            {"pieces", KEY_PIECES, "N", 0,
             "Make at most N pieces of about as many shards each; without it, one for each shard",
             0},
            {"piece", KEY_PIECE, "I", 0, "Print piece I alone; the first is 0", 0},
            {0}},
    .examples =
        (const cli_example[]){{"zarrbridge plan x.zarr/a --pieces 8", "for eight workers"},
                              {"zarrbridge plan x.zarr/a --pieces 8 --piece $SLURM_ARRAY_TASK_ID",
                               "for this one of a job array"},
                              {"zarrbridge plan x.zarr/a 0:365,: --json", "one year, for a script"},
                              {0}},
    .keys = (const cli_example[]){{"pieces[].number", "from 0, in C order"},
                                  {"pieces[].start", "the first element along each dimension"},
                                  {"pieces[].stop", "the one behind the last, as in a slice"},
                                  {"pieces[].whole", "false: other elements share its shards"},
                                  {"pieces[].bytes", "decoded"},
                                  {"summary.array", "as given"},
                                  {"summary.shape", "of the array"},
                                  {"summary.unit", "the shape of its shards, or of its chunks"},
                                  {"summary.pieces", "how many there are"},
                                  {"summary.whole", "how many of them have whole shards"},
                                  {0}},
    .run = run,
};

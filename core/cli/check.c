/* SPDX-License-Identifier: MIT */
/* `verify` and `repair`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "place.h"
#include "print.h"
#include "progress.h"
#include "report.h"
#include "zarrbridge/check.h"
#include "zarrbridge/door.h"
#include "zarrbridge/sys/hierarchy.h"

/* Both walk all of a store, and tell findings from any thread, one at a time. */
typedef struct checking {
    const cli_call *call;
    report report;
    progress *shown;
    const char *store; /* the directory, or a name without files below */
    uint64_t count;    /* of what was mended, or of doors to nothing */
} checking;

static int report_finding(checking *c, const zb_finding *finding) {
    zb_json_writer *w = report_object(c->call);
    report_text(w, "kind", zb_finding_name(finding->kind));
    report_text(w, "key", finding->key);
    report_text(w, "message", finding->message);
    return report_item(&c->report, w);
}

static void print_finding(const zb_finding *finding) {
    print_text(finding->key);
    printf(": ");
    print_text(finding->message);
    putchar('\n');
}

/* A door is no part of the store that it lies in, and says where it leads. One to nothing is a
   finding. Returns the finding in place of that of a foreign file; the message is in *text. */
static zb_finding judge_door(checking *c, const zb_finding *foreign, zb_error *text) {
    zb_finding judged = *foreign;
    zb_door door;
    char *path;
    if (foreign->kind != ZB_FINDING_FOREIGN || asprintf(&path, "%s/%s", c->store, foreign->key) < 0)
        return judged;
    if (zb_path_is_door(path)) {
        judged.message = text->message;
        if (zb_door_read(path, ZB_DOORS_ANY, &door, text) == ZB_OK) {
            zb_fail(text, ZB_OK, "no part of the store: a door to '%s'", door.store);
        } else {
            judged.kind = ZB_FINDING_DAMAGED;
            c->count++;
        }
        zb_door_clear(&door);
    }
    free(path);
    return judged;
}

static int take_finding(void *context, const zb_finding *given) {
    checking *c = context;
    zb_error text;
    const zb_finding judged = judge_door(c, given, &text), *finding = &judged;
    if (c->call->json)
        return report_finding(c, finding);
    progress_pause(c->shown);
    print_color(c->call, finding->kind == ZB_FINDING_FOREIGN ? PRINT_FAINT : PRINT_BAD);
    printf("%-9s ", zb_finding_name(finding->kind));
    print_plain(c->call);
    print_finding(finding);
    progress_resume(c->shown);
    return 0;
}

static int take_mended(void *context, const zb_finding *finding) {
    checking *c = context;
    c->count++;
    if (c->call->json)
        return report_finding(c, finding);
    progress_pause(c->shown);
    print_finding(finding);
    progress_resume(c->shown);
    return 0;
}

static zb_json_writer *report_sum(const cli_call *call, const zb_verify_summary *sum) {
    zb_json_writer *w = report_object(call);
    report_number(w, "nodes", sum->nodes);
    report_number(w, "objects", sum->objects);
    report_number(w, "encoded_chunks", sum->inner_chunks);
    report_number(w, "bytes", sum->bytes);
    report_number(w, "findings", sum->findings);
    report_number(w, "foreign", sum->foreign);
    return w;
}

static void say_sum(const cli_call *call, const zb_verify_summary *sum) {
    cli_say(call,
            "%" PRIu64 " nodes, %" PRIu64 " chunks or shards with %" PRIu64
            " encoded chunks in %" PRIu64 " bytes: %" PRIu64 " findings",
            sum->nodes, sum->objects, sum->inner_chunks, sum->bytes, sum->findings);
    if (sum->foreign > 0)
        cli_say(call, ", %" PRIu64 " foreign files", sum->foreign);
    cli_say(call, "\n");
}

static int verify(const cli_call *call) {
    zb_hierarchy *hierarchy;
    zb_error err;
    zb_verify_summary sum;
    checking c = {.call = call, .report = report_begin(call, "findings")};
    if (store_open(call->arguments[0], &hierarchy, &err))
        return report_fail(&c.report, &err);
    c.store = zb_hierarchy_store(hierarchy)->label;
    c.shown = progress_begin(call, hierarchy, "");
    enum zb_code code = zb_hierarchy_verify(hierarchy, take_finding, &c, &sum, &err);
    progress_end(c.shown);
    zb_hierarchy_release(hierarchy);
    if (code)
        return report_fail(&c.report, &err);
    sum.findings += c.count;
    sum.foreign -= c.count;
    const int found = sum.findings ? CLI_FOUND : sum.nodes == 0 ? CLI_FAILED : CLI_FINE;
    const int status = report_end(&c.report, report_sum(call, &sum), found);
    say_sum(call, &sum);
    if (sum.nodes == 0)
        fprintf(stderr,
                "zarrbridge: '%s' is not a store: no group and no array could be checked; its "
                "zarr.json would be '%s/zarr.json'\n",
                call->arguments[0], call->arguments[0]);
    return status;
}

static int repair(const cli_call *call) {
    zb_hierarchy *hierarchy;
    zb_error err;
    checking c = {.call = call, .report = report_begin(call, "mended")};
    if (store_open(call->arguments[0], &hierarchy, &err))
        return report_fail(&c.report, &err);
    c.shown = progress_begin(call, NULL, NULL);
    enum zb_code code = zb_hierarchy_repair(hierarchy, take_mended, &c, &err);
    if (!code)
        code = zb_hierarchy_flush(hierarchy, &err);
    progress_end(c.shown);
    zb_hierarchy_release(hierarchy);
    if (code)
        return report_fail(&c.report, &err);
    zb_json_writer *w = report_object(call);
    report_number(w, "mended", c.count);
    const int status = report_end(&c.report, w, CLI_FINE);
    cli_say(call, "%" PRIu64 " things mended\n", c.count);
    return status;
}

const cli_command command_verify = {
    .name = "verify",
    .arguments = "STORE",
    .least = 1,
    .most = 1,
    .summary = "decode every chunk, and list what is wrong",
    .description =
        "Findings are damaged (a checksum or a rule of the format is broken), truncated "
        "(too short for its content), orphaned "
        "(nothing leads to it), stale (left by a killed writer; repair sees to it), unchecked (it "
        "could not be read; the line says why) and foreign (a file that is no part of a store, "
        "and no fault of it; of a door the line says where it leads, and one to nothing is "
        "damaged). "
        "Nothing is changed. A writer that is at work meanwhile may cause "
        "findings where nothing is wrong.",
    .examples = (const cli_example[]){{"zarrbridge verify x.zarr", "the whole store"},
                                      {"zarrbridge verify -q x.zarr && echo good",
                                       "in a script: silent where all is well"},
                                      {0}},
    .keys =
        (const cli_example[]){
            {"findings[].kind", "damaged, truncated, orphaned, stale, unchecked or foreign"},
            {"findings[].key", "the object in the store, or the place where it should be"},
            {"findings[].message", "what is wrong"},
            {"summary.nodes",
             "nodes that were looked at; 0 where nothing is a store (exit status 2)"},
            {"summary.objects", "chunks or shards that were looked at"},
            {"summary.encoded_chunks", "chunks in them"},
            {"summary.bytes", "their size as stored"},
            {"summary.findings", "how many, without foreign files"},
            {"summary.foreign", "how many foreign files"},
            {0}},
    .found = "something was found, foreign files apart",
    .run = verify,
};

const cli_command command_repair = {
    .name = "repair",
    .arguments = "STORE",
    .least = 1,
    .most = 1,
    .summary = "clear up after killed writers, and undo what they had begun",
    .description =
        "Temporary files are removed, changes are undone by their journals, and consolidated "
        "metadata are brought up to date. Each is told. Damaged chunks and orphans are left as "
        "they are: that needs a judgement. Writers may be at work meanwhile.",
    .examples = (const cli_example[]){{"zarrbridge repair x.zarr", "after a crash"}, {0}},
    .keys = (const cli_example[]){{"mended[].kind", "stale"},
                                  {"mended[].key", "the object in the store"},
                                  {"mended[].message", "what was done"},
                                  {"summary.mended", "how many things"},
                                  {0}},
    .run = repair,
};

/* SPDX-License-Identifier: MIT */
/* `compact` and `consolidate`. */
#include <inttypes.h>
#include <stdio.h>

#include "commands.h"
#include "place.h"
#include "progress.h"
#include "report.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

/* The array is opened in its hierarchy, whose locks are the same files. */
static int compact(const cli_call *call) {
    place where;
    zb_error err;
    zb_node *node = NULL;
    uint64_t reclaimed = 0;
    report doc = report_begin(call, NULL);
    enum zb_code code = place_open_array(call->arguments[0], &where, &node, &err);
    if (!code) {
        progress *shown = progress_begin(call, where.hierarchy, where.node);
        code = zb_array_compact(node, ZB_SYNC_CLOSE, &reclaimed, &err);
        progress_end(shown);
    }
    zb_node_release(node);
    place_clear(&where);
    if (code)
        return report_fail(&doc, &err);
    zb_json_writer *w = report_object(call);
    report_number(w, "reclaimed_bytes", reclaimed);
    const int status = report_end(&doc, w, CLI_FINE);
    cli_say(call, "%" PRIu64 " bytes reclaimed\n", reclaimed);
    return status;
}

/* The block stands in the group's own document, so that the group may be a store by itself. */
static int consolidate(const cli_call *call) {
    const char *path = call->arguments[0];
    place where;
    zb_error err;
    report doc = report_begin(call, NULL);
    progress *shown = progress_begin(call, NULL, NULL);
    enum zb_code code = place_find(path, NULL, &where, &err);
    if (!code) {
        zb_hierarchy_set_sync(where.hierarchy, ZB_SYNC_CLOSE);
        code = zb_group_consolidate(where.hierarchy, where.node, &err);
    }
    if (!code)
        code = zb_hierarchy_flush(where.hierarchy, &err);
    progress_end(shown);
    place_clear(&where);
    if (code)
        return report_fail(&doc, &err);
    zb_json_writer *w = report_object(call);
    report_text(w, "consolidated", path);
    const int status = report_end(&doc, w, CLI_FINE);
    cli_say(call, "%s has consolidated metadata\n", path);
    return status;
}

const cli_command command_compact = {
    .name = "compact",
    .arguments = "STORE/ARRAY",
    .least = 1,
    .most = 1,
    .summary = "rewrite shards that carry garbage",
    .description = "Shards that were changed in place or appended to hold inner chunks that "
                   "nothing leads to any more. Each such shard is rewritten without them. Readers "
                   "and writers may be at work meanwhile.",
    .examples = (const cli_example[]){{"zarrbridge compact x.zarr/temperature", "one array"}, {0}},
    .keys = (const cli_example[]){{"reclaimed_bytes", "how much smaller the array is now"}, {0}},
    .run = compact,
};

const cli_command command_consolidate = {
    .name = "consolidate",
    .arguments = "STORE[/GROUP]",
    .least = 1,
    .most = 1,
    .summary = "put the metadata of all nodes into the group's own",
    .description = "Readers that cannot list a store, as on a web server, find its nodes by that. "
                   "zarrbridge keeps consolidated metadata up to date from then on; other writers "
                   "may leave it stale, which verify finds and repair mends.",
    .examples =
        (const cli_example[]){
            {"zarrbridge consolidate x.zarr", "before the store goes to a web server"}, {0}},
    .keys = (const cli_example[]){{"consolidated", "the name of the group, as given"}, {0}},
    .run = consolidate,
};

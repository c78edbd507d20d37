/* SPDX-License-Identifier: MIT */
/* Extension points: one parser for all of them, so that all accept and refuse the same forms, and
   one printer of the form with a configuration. */
#include "base/extension.h"

#include "base/json_brief.h"
#include "base/names.h"
#include "zarrbridge/json.h"

bool zb__name_in(const char *name, const char *const *list) {
    while (*list && !zb__name_is(*list, name))
        list++;
    return *list != NULL;
}

/* True for exactly the value false: 0 and "false" do not count. */
bool zb__json_ignorable(const zb_json *member) {
    const zb_json *flag = zb_json_get(member, "must_understand");
    return zb_json_kind_of(flag) == ZB_JSON_BOOL && !zb_json_bool(flag);
}

/* The bare name is allowed by version 3.1 of the specification for every extension point, by 3.0
   for none but the data type; the owner of a name decides whether it needs a configuration. */
enum zb_code zb__extension_parse(const zb_json *value, const char *what, zb__extension *out,
                                 zb_error *err) {
    /* must_understand means nothing on an extension that we do understand. */
    static const char *const members[] = {"name", "configuration", "must_understand", NULL};
    char brief[ZB__BRIEF_SIZE];
    *out = (zb__extension){.name = zb_json_string(value), .configuration = NULL};
    if (out->name)
        return ZB_OK;
    if (zb_json_kind_of(value) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "%s is %s, expected a name or an object with a name", what,
                       zb__json_brief(value, brief));
    const zb_json *name = zb_json_get(value, "name");
    out->name = zb_json_string(name);
    if (!out->name)
        return zb_fail(err, ZB_EFORMAT, "%s: name is %s, expected a string", what,
                       zb__json_brief(name, brief));
    out->configuration = zb_json_get(value, "configuration");
    if (out->configuration && zb_json_kind_of(out->configuration) != ZB_JSON_OBJECT)
        return zb_fail(err, ZB_EFORMAT, "%s: configuration is %s, expected an object", what,
                       zb__json_brief(out->configuration, brief));
    for (const zb_json *m = zb_json_first(value); m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), members) && !zb__json_ignorable(m))
            return zb_fail(err, ZB_EUNSUPPORTED, "%s has an unknown member %s", what,
                           zb__name_brief(zb_json_name(m), brief));
    }
    return ZB_OK;
}

/* The core specification is silent about unknown members here; all major readers refuse them. */
enum zb_code zb__extension_check(const zb__extension *extension, const char *what,
                                 const char *const *known, zb_error *err) {
    char name[ZB__BRIEF_SIZE];
    char brief[ZB__BRIEF_SIZE];
    const zb_json *m = zb_json_first(extension->configuration);
    for (; m; m = zb_json_next(m)) {
        if (!zb__name_in(zb_json_name(m), known))
            return zb_fail(
                err, ZB_EUNSUPPORTED, "%s: the configuration of %s has an unknown member %s", what,
                zb__name_brief(extension->name, name), zb__name_brief(zb_json_name(m), brief));
    }
    return ZB_OK;
}

void zb__extension_begin(zb_json_writer *w, const char *name) {
    zb_json_begin_object(w);
    zb_json_write_name(w, "name");
    zb_json_write_string(w, name);
    zb_json_write_name(w, "configuration");
    zb_json_begin_object(w);
}

void zb__extension_end(zb_json_writer *w) {
    zb_json_end_object(w);
    zb_json_end_object(w);
}

/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

zb_json_writer *report_object(const cli_call *call) {
    zb_json_writer *w = call->json ? zb_json_writer_new() : NULL;
    zb_json_begin_object(w);
    return w;
}

/* The bytes of the UTF-8 character that text begins with; 0 for what is none. */
static size_t character_size(const unsigned char *text) {
    const size_t size = *text < 0x80   ? 1
                        : *text < 0xc2 ? 0
                        : *text < 0xe0 ? 2
                        : *text < 0xf0 ? 3
                                       : 4;
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    const bool is_long = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90);
    const bool is_surrogate = *text == 0xed && text[1] >= 0xa0;
    const bool is_beyond = *text > 0xf4 || (*text == 0xf4 && text[1] >= 0x90);
    return is_long || is_surrogate || is_beyond ? 0 : size;
}

static void write_text(zb_json_writer *w, const char *before, const char *text) {
    char *clean = NULL;
    size_t size;
    FILE *out = open_memstream(&clean, &size);
    if (out)
        fputs(before, out);
    while (out && *text) {
        const size_t length = character_size((const unsigned char *)text);
        if (length)
            fwrite(text, 1, length, out);
        else
            fprintf(out, "\\x%02x", (unsigned char)*text);
        text += length ? length : 1;
    }
    const bool is_whole = out && fclose(out) == 0;
    zb_json_write_string(w, is_whole ? clean : "");
    free(clean);
}

void report_text(zb_json_writer *w, const char *name, const char *text) {
    if (!w)
        return;
    zb_json_write_name(w, name);
    if (text)
        write_text(w, "", text);
    else
        zb_json_write_null(w);
}

void report_path(zb_json_writer *w, const char *path) {
    if (!w)
        return;
    zb_json_write_name(w, "path");
    write_text(w, "/", path);
}

void report_paths(zb_json_writer *w, const char *name, char *const *paths, size_t count) {
    if (!w)
        return;
    zb_json_write_name(w, name);
    zb_json_begin_array(w);
    for (size_t i = 0; i < count; i++)
        write_text(w, "/", paths[i]);
    zb_json_end_array(w);
}

void report_number(zb_json_writer *w, const char *name, uint64_t value) {
    zb_json_write_name(w, name);
    zb_json_write_uint64(w, value);
}

void report_flag(zb_json_writer *w, const char *name, bool value) {
    zb_json_write_name(w, name);
    zb_json_write_bool(w, value);
}

void report_extents(zb_json_writer *w, const char *name, const uint64_t *extents, uint32_t count) {
    zb_json_write_name(w, name);
    if (!extents) {
        zb_json_write_null(w);
        return;
    }
    zb_json_begin_array(w);
    for (uint32_t i = 0; i < count; i++)
        zb_json_write_uint64(w, extents[i]);
    zb_json_end_array(w);
}

/* Strings are written as they stood. Recursion is as deep as the limit json_depth. */
static void write_value(zb_json_writer *w, const zb_json *value) {
    const enum zb_json_kind kind = zb_json_kind_of(value);
    const char *number = zb_json_number(value);
    const bool is_object = kind == ZB_JSON_OBJECT;
    if (number && (strstr(number, "NaN") || strstr(number, "Infinity"))) {
        zb_json_write_string(w, number);
        return;
    }
    if (!is_object && kind != ZB_JSON_ARRAY) {
        zb_json_write_value(w, value);
        return;
    }
    is_object ? zb_json_begin_object(w) : zb_json_begin_array(w);
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item)) {
        if (is_object)
            zb_json_write_name(w, zb_json_name(item));
        write_value(w, item);
    }
    is_object ? zb_json_end_object(w) : zb_json_end_array(w);
}

void report_value(zb_json_writer *w, const char *name, const zb_json *value) {
    zb_json_write_name(w, name);
    if (value)
        write_value(w, value);
    else
        zb_json_write_null(w);
}

report report_begin(const cli_call *call, const char *list) {
    if (call->json && list)
        printf("{\"%s\": [", list);
    return (report){.call = call, .has_list = list != NULL};
}

/* Ends the writer, and prints its object between two texts. */
static bool print_object(const char *before, zb_json_writer *w, const char *after) {
    zb_json_end_object(w);
    char *text = zb_json_writer_end(w, NULL);
    const bool is_whole = text && printf("%s%s%s", before, text, after) >= 0;
    free(text);
    return is_whole;
}

int report_item(report *r, zb_json_writer *item) {
    if (!r->call->json)
        return ferror(stdout);
    r->failed |= !print_object(r->follows ? ",\n " : "\n ", item, "");
    r->follows = true;
    return r->failed;
}

int report_end(report *r, zb_json_writer *summary, int status) {
    zb_error err;
    if (r->call->json && !r->failed)
        r->failed = !print_object(r->has_list ? "],\n\"summary\": " : "", summary,
                                  r->has_list ? "}\n" : "\n");
    if (!fflush(stdout) && !ferror(stdout) && !r->failed)
        return status;
    if (ferror(stdout))
        return CLI_FAILED; /* it is told of at exit */
    zb_fail(&err, ZB_ENOMEM, "no memory for the report");
    return cli_fail(&err);
}

int report_fail(report *r, const zb_error *err) {
    zb_json_writer *w = report_object(r->call);
    report_text(w, "code", zb_code_name(err->code));
    report_text(w, "message", err->message);
    if (r->call->json)
        (void)print_object(r->has_list ? "],\n\"error\": " : "{\"error\": ", w, "}\n");
    (void)fflush(stdout);
    return cli_fail(err);
}

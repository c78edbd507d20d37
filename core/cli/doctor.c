/* SPDX-License-Identifier: MIT */
/* `doctor`: the command, and the form of what it tells. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "zarrbridge/limits.h"

enum { KEY_PEERS = 256, KEY_SECONDS, KEY_ONLY };

static const char *const level_names[] = {"note", "warning", "error"};
static const char *const level_words[] = {"NOTE", "WARN", "ERROR"};

void doctor_begin(doctor *d, const char *subject) {
    d->subject = subject;
}

static void report_line(doctor *d, const char *kind, const char *message, const char *advice) {
    zb_json_writer *w = report_object(d->call);
    report_text(w, "subject", d->subject);
    report_text(w, "kind", kind);
    report_text(w, "message", message);
    if (advice)
        report_text(w, "advice", advice);
    (void)report_item(&d->report, w);
}

void doctor_fact(doctor *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = doctor_vprint(format, args);
    va_end(args);
    if (d->call->json) {
        report_line(d, "fact", text, NULL);
    } else {
        printf("%-9s ", d->subject);
        print_text(text);
        putchar('\n');
    }
    free(text);
}

static void print_found(const doctor *d, enum doctor_level level, const char *message,
                        const char *advice) {
    print_color(d->call, level == DOCTOR_NOTE ? PRINT_FAINT : PRINT_BAD);
    printf("  %-7s ", level_words[level]);
    print_plain(d->call);
    print_text(message);
    printf("\n          -> ");
    print_text(advice);
    putchar('\n');
}

void doctor_find(doctor *d, enum doctor_level level, const char *format, ...) {
    static const char before_advice[] = " -> ";
    va_list args;
    va_start(args, format);
    char *text = doctor_vprint(format, args);
    va_end(args);
    char *advice = NULL; /* the last, since a path in the message may hold the sign */
    for (char *at = text; (at = strstr(at, before_advice)) != NULL; at++)
        advice = at;
    if (!advice)
        abort(); /* a finding without advice is none */
    *advice = '\0';
    advice += sizeof before_advice - 1;
    d->warnings += level == DOCTOR_WARN;
    d->errors += level == DOCTOR_ERROR;
    if (d->call->json)
        report_line(d, level_names[level], text, advice);
    else
        print_found(d, level, text, advice);
    free(text);
}

/* ---- The command --------------------------------------------------------------------------- */

/* 0: not given; -1: no such number. */
static int number_of(const char *text, int most) {
    char *end;
    if (!text)
        return 0;
    const long value = strtol(text, &end, 10);
    return *text && !*end && value >= 1 && value <= most ? (int)value : -1;
}

static int end(doctor *d) {
    zb_json_writer *w = report_object(d->call);
    report_text(w, "version", zb_version());
    report_number(w, "warnings", d->warnings);
    report_number(w, "errors", d->errors);
    const int status = d->errors ? CLI_FAILED : d->warnings ? CLI_FOUND : CLI_FINE;
    cli_say(d->call, "%u error%s, %u warning%s\n", d->errors, d->errors == 1 ? "" : "s",
            d->warnings, d->warnings == 1 ? "" : "s");
    return report_end(&d->report, w, status);
}

static const struct {
    const char *name;
    void (*look)(doctor *d);
} subjects[] = {{"self", doctor_self},
                {"variable", doctor_variables},
                {"hdf5", doctor_hdf5},
                {"gdal", doctor_gdal},
                {"python", doctor_python}};

static bool is_subject(const char *name) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (strcmp(name, subjects[i].name) == 0)
            return true;
    }
    return strcmp(name, "path") == 0;
}

static int run(const cli_call *call) {
    enum { MOST_PEERS = 10000, MOST_SECONDS = 3600 };
    const char *path = call->count > 0 ? call->arguments[0] : NULL;
    const char *only = cli_option(call, KEY_ONLY);
    const int peers = number_of(cli_option(call, KEY_PEERS), MOST_PEERS);
    const int seconds = number_of(cli_option(call, KEY_SECONDS), MOST_SECONDS);
    if (peers < 0 || peers == 1)
        return cli_misuse(call, "--peers takes the number of processes, 2 to %d", MOST_PEERS);
    if (seconds < 0)
        return cli_misuse(call, "--seconds takes a number, 1 to %d", MOST_SECONDS);
    if (only && !is_subject(only))
        return cli_misuse(call, "--only takes self, variable, hdf5, gdal, python or path");
    if (peers && !path)
        return cli_misuse(call, "--peers needs the directory in which the processes meet");
    doctor d = {.call = call, .report = report_begin(call, "lines")};
    d.seconds = seconds ? seconds : 20;
    if (peers) {
        doctor_peers(&d, (unsigned)peers, path);
        return end(&d);
    }
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (!only || strcmp(only, subjects[i].name) == 0)
            subjects[i].look(&d);
    }
    if (path)
        doctor_place(&d, path);
    return end(&d);
}

static const struct argp_option options[] = {
    {"peers", KEY_PEERS, "N", 0,
     "be one of N processes, on one machine or several, that meet in the directory PATH and try "
     "whether a lock of one keeps the others out",
     0},
    {"only", KEY_ONLY, "self|variable|hdf5|gdal|python|path", 0, "look at one subject alone", 0},
    {"seconds", KEY_SECONDS, "S", 0, "give each child process, and peers, so much time (20)", 0},
    {0}};

static const cli_example examples[] = {
    {"zarrbridge doctor", "what h5py, the HDF5 tools, GDAL and rasterio find here"},
    {"zarrbridge doctor /scratch/x.zarr", "the same, and the file system of that store"},
    {"zarrbridge doctor --peers 2 /scratch", "on two nodes at once: do locks hold between them"},
    {0}};

static const cli_example keys[] = {
    {"lines[].subject", "variable, limits, network, hdf5, gdal, python, path, peers, or self"},
    {"lines[].kind", "fact, note, warning or error"},
    {"lines[].message", "what is there, or what is wrong"},
    {"lines[].advice", "what to do; not of facts"},
    {"summary.version", "that of the program"},
    {"summary.warnings", "their number"},
    {"summary.errors", "their number"},
    {0}};

const cli_command command_doctor = {
    .name = "doctor",
    .arguments = "[PATH]",
    .most = 1,
    .summary = "tell what is wrong with the installation, and its cure",
    .description =
        "Looks for the libraries and plugins of HDF5 and GDAL, for Python's packages, at the "
        "variables of the environment, and with PATH at a directory and its file system, in which "
        "it makes and removes files of its own. Libraries are loaded in child processes; one that "
        "crashes is a finding. Each finding ends with what to do.\n\nNothing is sent, and no value "
        "that may be secret is shown: the output can go into a report of a bug.",
    .options = options,
    .examples = examples,
    .keys = keys,
    .found = "there are warnings, and no error",
    .run = run};

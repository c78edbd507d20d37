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
    if (*advice)
        report_text(w, "advice", advice);
    (void)report_item(&d->report, w);
}

static void print_fact(const doctor *d, const char *message) {
    printf("%-9s ", d->subject);
    print_text(message);
    putchar('\n');
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

/* Counts a line, and prints it or sends it to the parent. level: -1 for a fact, whose advice is
   "". */
static void tell(doctor *d, int level, const char *message, const char *advice) {
    const char *kind = level < 0 ? "fact" : level_names[level];
    d->warnings += level == DOCTOR_WARN;
    d->errors += level == DOCTOR_ERROR;
    if (d->parent) {
        fprintf(d->parent, "%s%c%s%c%s%c%s%c", kind, 0, d->subject, 0, message, 0, advice, 0);
        fflush(d->parent);
    } else if (d->call->json) {
        report_line(d, kind, message, advice);
    } else if (level < 0) {
        print_fact(d, message);
    } else {
        print_found(d, (enum doctor_level)level, message, advice);
    }
}

void doctor_fact(doctor *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = doctor_vprint(format, args);
    va_end(args);
    tell(d, -1, text, "");
    free(text);
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
    tell(d, (int)level, text, advice + sizeof before_advice - 1);
    free(text);
}

/* ---- The subjects -------------------------------------------------------------------------- */

typedef struct subject {
    const char *name;
    void (*look)(doctor *d);
} subject;

static const subject subjects[] = {{"self", doctor_self},     {"variable", doctor_variables},
                                   {"hdf5", doctor_hdf5},     {"gdal", doctor_gdal},
                                   {"python", doctor_python}, {"netcdf", doctor_netcdf},
                                   {"path", doctor_place}};

static const subject meeting = {"peers", doctor_peers};

static const subject *subject_of(const char *name) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (strcmp(name, subjects[i].name) == 0)
            return &subjects[i];
    }
    return NULL;
}

typedef struct looking {
    doctor *d;
    const subject *subject;
} looking;

static void look_in_child(void *context, FILE *out) {
    const looking *l = context;
    l->d->parent = out;
    l->subject->look(l->d);
}

static int level_of(const char *kind) {
    for (int i = DOCTOR_NOTE; i <= DOCTOR_ERROR; i++) {
        if (strcmp(kind, level_names[i]) == 0)
            return i;
    }
    return -1;
}

/* Cuts the next text off; NULL at the end, and for one that a killed child has not ended. */
static const char *next_text(const char **at, const char *end) {
    const char *text = *at, *zero = memchr(text, '\0', (size_t)(end - text));
    *at = zero ? zero + 1 : end;
    return zero ? text : NULL;
}

/* Tells what the child has sent. An empty kind says that a child of its own began. */
static void tell_all(doctor *d, const doctor_probe *child) {
    const char *at = child->out, *end = child->out + child->out_size, *kind;
    while (at < end && (kind = next_text(&at, end)) != NULL) {
        const char *name = *kind ? next_text(&at, end) : NULL;
        const char *message = name ? next_text(&at, end) : NULL;
        const char *advice = message ? next_text(&at, end) : NULL;
        if (!advice)
            continue;
        d->subject = name;
        tell(d, level_of(kind), message, advice);
    }
}

static void look(doctor *d, const subject *one) {
    looking l = {.d = d, .subject = one};
    doctor_probe child = doctor_watch(d, look_in_child, &l);
    tell_all(d, &child);
    doctor_begin(d, one->name);
    if (child.is_late)
        doctor_find(d, DOCTOR_ERROR,
                    "the look at it did not end within %d seconds -> see whether a file system "
                    "that is named here or in a variable does not answer; --seconds gives it more "
                    "time",
                    d->seconds);
    else if (child.status != 0)
        doctor_find(d, DOCTOR_ERROR,
                    "the look at it crashed (%s) -> report this bug of zarrbridge, with what is "
                    "printed here",
                    child.signal ? strsignal(child.signal) : "it failed");
    doctor_probe_clear(&child);
}

/* ---- The command --------------------------------------------------------------------------- */

/* 0: not given; -1: no such number. */
static int number_of(const char *text, int most) {
    uint64_t value;
    if (!text)
        return 0;
    return cli_number(text, &value) && value >= 1 && value <= (uint64_t)most ? (int)value : -1;
}

static int end(doctor *d) {
    zb_json_writer *w = report_object(d->call);
    report_text(w, "version", zb_version());
    report_number(w, "warnings", d->warnings);
    report_number(w, "errors", d->errors);
    const int found = d->errors ? CLI_FAILED : d->warnings ? CLI_FOUND : CLI_FINE;
    const int status = report_end(&d->report, w, found);
    cli_say(d->call, "%u error%s, %u warning%s\n", d->errors, d->errors == 1 ? "" : "s",
            d->warnings, d->warnings == 1 ? "" : "s");
    return status;
}

/* A mistake in the options, for which the number of peers and of seconds are as number_of has
   them; NULL where there is none. */
static const char *mistake(const char *path, const char *only, int peers, int seconds) {
    const subject *one = only ? subject_of(only) : NULL;
    if (peers < 0 || peers == 1)
        return "--peers takes the number of processes, 2 to 10000";
    if (seconds < 0)
        return "--seconds takes a number, 1 to 3600";
    if (only && !one)
        return "--only takes self, variable, hdf5, gdal, python or path";
    if (peers && only)
        return "--peers and --only cannot be given together";
    if (peers && !path)
        return "--peers needs the directory in which the processes meet";
    if (only && one->look == doctor_place && !path)
        return "--only path needs the PATH";
    if (only && one->look != doctor_place && path)
        return "a PATH is looked at without --only, or with --only path";
    return NULL;
}

static int run(const cli_call *call) {
    enum { MOST_PEERS = 10000, MOST_SECONDS = 3600 };
    const char *path = call->count > 0 ? call->arguments[0] : NULL;
    const char *only = cli_option(call, KEY_ONLY);
    const int peers = number_of(cli_option(call, KEY_PEERS), MOST_PEERS);
    const int seconds = number_of(cli_option(call, KEY_SECONDS), MOST_SECONDS);
    const char *wrong = mistake(path, only, peers, seconds);
    if (wrong)
        return cli_misuse(call, "%s", wrong);
    doctor d = {.call = call, .report = report_begin(call, "lines"), .path = path};
    d.seconds = seconds ? seconds : DOCTOR_SECONDS;
    d.peers = (unsigned)peers;
    if (peers)
        look(&d, &meeting);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && !peers; i++) {
        if (only ? strcmp(only, subjects[i].name) == 0 : path || subjects[i].look != doctor_place)
            look(&d, &subjects[i]);
    }
    return end(&d);
}

static const struct argp_option options[] = {
    {"peers", KEY_PEERS, "N", 0,
     "be one of N processes, on one machine or several, that meet in the directory PATH and try "
     "whether a lock of one keeps the others out",
     0},
    {"only", KEY_ONLY, "self|variable|hdf5|gdal|python|netcdf|path", 0, "look at one subject alone",
     0},
    {"seconds", KEY_SECONDS, "S", 0, "give each check, and peers, so much time (20)", 0},
    {0}};

static const cli_example examples[] = {
    {"zarrbridge doctor", "what h5py, the HDF5 tools, GDAL and rasterio find here"},
    {"zarrbridge doctor /scratch/x.zarr", "the same, and the file system of that store"},
    {"zarrbridge doctor --peers 2 /scratch", "on two nodes at once: do locks hold between them"},
    {0}};

static const cli_example keys[] = {
    {"lines[].subject",
     "variable, limits, network, hdf5, gdal, python, netcdf, path, peers, or self"},
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
        "it makes and removes files of its own. All that is done in child processes: one that "
        "crashes, or gets no answer, is a finding. Each finding ends with what to do.\n\nNothing "
        "is sent, and no value that may be secret is shown: the output can go into a report of a "
        "bug.",
    .options = options,
    .examples = examples,
    .keys = keys,
    .found = "there are warnings, and no error",
    .run = run};

/* SPDX-License-Identifier: MIT */
/*
 * `zarrbridge doctor`: what is shared by its subjects, of which each has a file.
 *
 * A subject tells facts, and findings. A finding says what is wrong and, behind " -> ", what to do.
 * Nothing leaves the machine, and values that may be secret are never in a text.
 *
 * Each subject is looked at in a child process, and libraries in children of that one: a file
 * system that does not answer, or a library that crashes, is a finding, and ends nothing.
 */
#ifndef ZB_CLI_DOCTOR_H
#define ZB_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report.h"

/* For each child process, unless the user says another number. */
enum { DOCTOR_SECONDS = 20 };

/* A note is for people who look for it; warnings and errors decide on the exit status. */
enum doctor_level { DOCTOR_NOTE, DOCTOR_WARN, DOCTOR_ERROR };

typedef struct doctor {
    const cli_call *call;
    report report;
    int seconds;      /* for each child process */
    const char *path; /* the argument, or NULL */
    unsigned peers;   /* how many processes meet there */
    unsigned warnings, errors;
    const char *subject;
    FILE *parent; /* in a subject's child process: what takes its findings. Else NULL */
} doctor;

/* What follows is of this subject: "hdf5". */
void doctor_begin(doctor *d, const char *subject);

void doctor_fact(doctor *d, const char *format, ...) ZB_PRINTF(2, 3);

/* "no plugin is in %s -> install it". */
void doctor_find(doctor *d, enum doctor_level level, const char *format, ...) ZB_PRINTF(3, 4);

/* ---- The subjects -------------------------------------------------------------------------- */

void doctor_self(doctor *d);      /* the library, the machine, the limits */
void doctor_variables(doctor *d); /* of the environment */
void doctor_hdf5(doctor *d);
void doctor_gdal(doctor *d);
void doctor_python(doctor *d);
void doctor_netcdf(doctor *d); /* its lines in .ncrc (netcdf.c) */
void doctor_place(doctor *d);  /* a directory, and its file system */
void doctor_peers(doctor *d);

/* ---- Tools --------------------------------------------------------------------------------- */

/* A list of texts; all zeros is an empty one. */
typedef struct doctor_list {
    char **text;
    size_t count;
} doctor_list;

void doctor_list_add(doctor_list *list, const char *text, size_t length);
void doctor_list_clear(doctor_list *list);

/* The parts of a list of directories as variables have it; those that are empty are left out. */
doctor_list doctor_split(const char *text, char separator);

/* The libraries of the machine whose file names match, by their real paths, each once: from
   LD_LIBRARY_PATH, the environment of conda, and the system's directories. */
doctor_list doctor_libraries(const char *const *patterns);

/* directory/name, malloc'ed. Ends the program without memory, as the other functions here do. */
char *doctor_join(const char *directory, const char *name);
char *doctor_print(const char *format, ...) ZB_PRINTF(1, 2);
char *doctor_vprint(const char *format, va_list args) ZB_PRINTF(1, 0);

/* The file of that name in the first directory that has one; malloc'ed, NULL where none has. */
char *doctor_file_in(const doctor_list *directories, const char *name);

/* HDF5's libraries (doctor_hdf5.c). */
doctor_list doctor_hdf5_libraries(void);

/* The connector that an HDF5 of the machine finds (doctor_hdf5.c); malloc'ed, or NULL. */
char *doctor_hdf5_connector(void);

/* The version of zarrbridge that a file is of; malloc'ed, NULL for a file that is none of ours. */
char *doctor_version_of(const char *path);

/* A variable that is set and not empty, or NULL. */
const char *doctor_variable(const char *name);

/* Whether HDF5_VOL_CONNECTOR names the connector. */
bool doctor_connector_is_named(void);

/* A library's function into *pointer, which is a pointer to a function. False where it has none. */
bool doctor_function(void *library, const char *name, void *pointer);

/* A plugin that does not load into `host`, by the loader's message. */
void doctor_find_load_error(doctor *d, const char *file, const char *host, const char *message);

/* ---- Child processes ----------------------------------------------------------------------- */

typedef struct doctor_probe {
    char *out, *err; /* what it has written */
    size_t out_size;
    int status;     /* its exit status; -1 where it was ended */
    int signal;     /* by which it was ended, or 0 */
    bool is_late;   /* it has taken all of its time */
    bool is_absent; /* there is no such program */
} doctor_probe;

/* Calls a function, which prints to `out`, in a child process. */
doctor_probe doctor_call(const doctor *d, void (*function)(void *context, FILE *out),
                         void *context);

/* Runs a program, argv ends with NULL. Its variables are those of this process. */
doctor_probe doctor_run(const doctor *d, const char *const *argv);

/* Calls a function that has its time from one output to the next, and two seconds more than those
   two, which it may call: those tell its parent when they begin. All of the output is kept. */
doctor_probe doctor_watch(const doctor *d, void (*function)(void *context, FILE *out),
                          void *context);

void doctor_probe_clear(doctor_probe *probe);

/* Finds that the child crashed, or was late. True if it did. */
bool doctor_find_crash(doctor *d, const doctor_probe *probe, const char *what);

/* The text behind "name=" at the beginning of a line of its output; malloc'ed, or NULL. index: of
   several such lines. */
char *doctor_probe_value(const doctor_probe *probe, const char *name, size_t index);

/* The same as a number; 0 where there is none. */
long doctor_probe_number(const doctor_probe *probe, const char *name);

/* The last line that it has written to standard error which says something; malloc'ed, or NULL. */
char *doctor_probe_words(const doctor_probe *probe);

#endif

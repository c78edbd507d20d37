/* SPDX-License-Identifier: MIT */
/* `doctor`: the library itself, the machine, the limits, and the library for the network. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor.h"
#include "util/cpu.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

static const char *processor(void) {
#if defined(__x86_64__)
    return zb__cpu_has(ZB__CPU_AVX2) ? "x86-64, avx2, sse4.2"
           : zb__cpu_has(ZB__CPU_SSE42)
               ? "x86-64, sse4.2"
               : "x86-64 without sse4.2: checksums are computed in software";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "of another kind";
#endif
}

static void tell_machine(doctor *d) {
    struct rlimit files;
    doctor_begin(d, "self");
    doctor_fact(d, "zarrbridge %s, processor %s", zb_version(), processor());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        doctor_fact(d, "at most %" PRIuMAX " open files", (uintmax_t)files.rlim_cur);
        if (files.rlim_cur < 256)
            doctor_find(d, DOCTOR_WARN,
                        "only %" PRIuMAX " files may be open at once; a read opens up to 128 of "
                        "one array -> ulimit -n 1024",
                        (uintmax_t)files.rlim_cur);
    }
}

/* Those that differ from their defaults on this machine. */
static void tell_limits(doctor *d) {
    zb_limit_row row;
    bool any = false;
    doctor_begin(d, "limits");
    for (size_t i = 0; zb_limit_describe(i, &row); i++) {
        if (row.is_ignored)
            doctor_find(d, DOCTOR_WARN,
                        "%s is neither a decimal number nor \"inf\", and is ignored -> give it a "
                        "number (the default is %" PRIu64 "): %s",
                        row.variable, row.default_value, row.meaning);
        if (row.value != row.default_value)
            doctor_fact(d, "%s=%" PRIu64 " in place of %" PRIu64, row.variable, row.value,
                        row.default_value);
        any |= row.value != row.default_value;
    }
    if (!any)
        doctor_fact(d, "all of them are defaults");
}

/* A name that is a URL loads the library; opening asks no host for anything. */
static void open_url(void *context, FILE *out) {
    static const zb_store_settings settings = {.options = NULL};
    zb_store *store = NULL;
    zb_error err;
    (void)context;
    if (zb_store_open_with("https://localhost/x.zarr", &settings, &store, &err))
        fprintf(out, "error=%s\n", err.message);
    else
        fprintf(out, "opens=1\n");
}

static void judge_network(doctor *d, const char *error) {
    if (strstr(error, "is not of zarrbridge"))
        doctor_find(d, DOCTOR_ERROR,
                    "%s -> install libzarrbridge_remote.so and this program from one build; "
                    "ZARRBRIDGE_REMOTE_LIBRARY names another file",
                    error);
    else if (doctor_variable("ZARRBRIDGE_REMOTE_LIBRARY"))
        doctor_find(d, DOCTOR_ERROR,
                    "%s -> unset ZARRBRIDGE_REMOTE_LIBRARY, or name the file "
                    "libzarrbridge_remote.so by it",
                    error);
    else
        doctor_find(d, DOCTOR_NOTE,
                    "URLs do not open: %s -> install libzarrbridge_remote.so (its build needs "
                    "libcurl, expat and inih) if you read from hosts",
                    error);
}

static void tell_network(doctor *d) {
    doctor_probe probe = doctor_call(d, open_url, NULL);
    char *error = doctor_probe_value(&probe, "error", 0);
    doctor_begin(d, "network");
    if (error)
        judge_network(d, error);
    else if (!doctor_find_crash(d, &probe, "the library for the network"))
        doctor_fact(d, "https://, s3:// and az:// open");
    free(error);
    doctor_probe_clear(&probe);
}

void doctor_self(doctor *d) {
    tell_machine(d);
    tell_limits(d);
    tell_network(d);
}

/* SPDX-License-Identifier: MIT */
/* Linux tells the peak in /proc, and forgets it when 5 is written to clear_refs (proc(5)). */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t status(const char *format) {
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    long long kib = -1;
    while (file && kib < 0 && fgets(line, sizeof line, file))
        sscanf(line, format, &kib);
    if (file)
        fclose(file);
    if (kib < 0) {
        fprintf(stderr, "zb-bench: /proc does not tell the size of this process\n");
        exit(1);
    }
    return kib * 1024;
}

int64_t memory_now(void) {
    return status("VmRSS: %lld kB");
}

int64_t memory_peak(void) {
    return status("VmHWM: %lld kB");
}

void memory_reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file || fputs("5", file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "zb-bench: the peak of this process cannot be reset\n");
        exit(1);
    }
}

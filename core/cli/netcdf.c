/* SPDX-License-Identifier: MIT */
/*
 * `netcdf`: the lines of .ncrc by which netCDF-C opens stores without a door. netCDF reads them as
 * they are: a line has no blanks, and a key that stands twice has its last value.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "report.h"
#include "zarrbridge/sys/staging.h"

enum { OPTION_SETUP = 's', OPTION_REMOVE = 'r', OPTION_LIBRARY = 'l' };

/* The connector is what netCDF loads, too, and this is its function for that. */
#define CONNECTOR "libhdf5_vol_zarr.so"
#define FUNCTION "zarrbridge_netcdf"

#define FIRST_LINE "# zarrbridge netcdf --setup: begin\n"
#define LAST_LINE "# zarrbridge netcdf --setup: end\n"
#define KEY "NETCDF.UDF"

/* netCDF has ten places for formats, and each knows one beginning of files: zarr.json, archives. */
#define SLOTS 10
static const char *const magics[] = {"{", "PK"};
#define MAGICS (sizeof magics / sizeof *magics)

/* ---- The file ---- */

#define MOST_BYTES (1 << 20) /* of the file */

typedef struct settings {
    char *path;    /* of the file; malloc'ed */
    char *others;  /* its lines but for ours; malloc'ed */
    char *library; /* the one that our lines name; malloc'ed, or NULL: there are none */
    bool has_cr;   /* our lines end with CR LF, which netCDF takes for a part of the name */
    bool is_taken[SLOTS];
} settings;

static void clear(settings *s) {
    free(s->path);
    free(s->others);
    free(s->library);
}

/* The file that netCDF reads, or would: the file itself where the name is that of a link. */
static char *find_file(void) {
    const char *file = doctor_variable("NCRCENV_RC"), *home = doctor_variable("NCRCENV_HOME");
    if (!home)
        home = doctor_variable("HOME");
    char *path = file ? doctor_print("%s", file) : doctor_join(home ? home : ".", ".ncrc");
    char *real = realpath(path, NULL);
    if (!real)
        return path;
    free(path);
    return real;
}

/* "" for a file that is not there. */
static enum zb_code read_file(const char *path, char **out, zb_error *err) {
    struct stat info;
    *out = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return (*out = strdup("")) ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory");
    enum zb_code code = ZB_OK;
    ssize_t size = 0;
    if (fd < 0 || fstat(fd, &info) != 0)
        code = zb_fail_errno(err, errno, "cannot read '%s'", path);
    else if (!S_ISREG(info.st_mode) || info.st_size > MOST_BYTES)
        code = zb_fail(err, ZB_EFORMAT, "'%s' is no file of settings", path);
    else if (!(*out = calloc(1, (size_t)info.st_size + 1)))
        code = zb_fail(err, ZB_ENOMEM, "no memory");
    else if ((size = pread(fd, *out, (size_t)info.st_size, 0)) != info.st_size)
        code = zb_fail_errno(err, size < 0 ? errno : EIO, "cannot read '%s'", path);
    else if (strlen(*out) != (size_t)size)
        code = zb_fail(err, ZB_EFORMAT, "'%s' is no text", path);
    if (fd >= 0)
        close(fd);
    return code;
}

/* A name in place of that link would be a file beside the one that is meant. */
static enum zb_code check_link(const char *path, zb_error *err) {
    struct stat link, file;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode) || stat(path, &file) == 0)
        return ZB_OK;
    return zb_fail(err, ZB_ENOTFOUND,
                   "'%s' is a link to a file that is not there: make that file, or remove the link",
                   path);
}

static mode_t mode_of_new_files(void) {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Replaces the file as a whole, with its owner and its rights. One without lines goes. */
static enum zb_code write_file(const char *path, const char *text, zb_error *err) {
    struct stat info;
    zb_staging staging;
    const bool is_there = stat(path, &info) == 0;
    const mode_t mode = is_there ? info.st_mode & 07777 : mode_of_new_files();
    if (!*text)
        return unlink(path) == 0 || errno == ENOENT
                   ? ZB_OK
                   : zb_fail_errno(err, errno, "cannot remove '%s'", path);
    enum zb_code code = zb_staging_make(path, false, &staging, err);
    if (code)
        return code;
    if (write(staging.fd, text, strlen(text)) != (ssize_t)strlen(text) ||
        (is_there && info.st_uid != geteuid() &&
         fchown(staging.fd, info.st_uid, info.st_gid) != 0) ||
        fchmod(staging.fd, mode) != 0 || fsync(staging.fd) != 0 || rename(staging.path, path) != 0)
        code = zb_fail_errno(err, errno, "cannot write '%s'", path);
    if (code)
        zb_staging_remove(&staging);
    else
        zb_staging_close(&staging);
    return code;
}

/* ---- Its lines ---- */

static void take_line(settings *s, const char *line, size_t length) {
    static const char library[] = ".LIBRARY=";
    const size_t before = strlen(KEY) + 1 + sizeof library - 1;
    if (!s->library && length > before &&
        strncmp(line + strlen(KEY) + 1, library, sizeof library - 1) == 0)
        s->library = strndup(line + before, strcspn(line + before, "\r\n"));
    s->has_cr |= memchr(line, '\r', length) != NULL;
}

static void keep_line(settings *s, FILE *others, const char *line, size_t length) {
    const char *key = line + strspn(line, " \t");
    unsigned slot = SLOTS;
    if (strncmp(key, KEY, strlen(KEY)) == 0 && sscanf(key + strlen(KEY), "%1u.", &slot) == 1)
        s->is_taken[slot] = true;
    fwrite(line, 1, length, others);
}

/* Whether a line is that one, which ends with a line break, also as editors of Windows store it. */
static bool is_line(const char *line, size_t length, const char *wanted) {
    const size_t n = strlen(wanted) - 1;
    return length > n && strncmp(line, wanted, n) == 0 &&
           line[n + (line[n] == '\r' && length > n + 1)] == '\n';
}

/* Ours are the first line, the last one, and those between them that tell netCDF of a format. */
static enum zb_code split(settings *s, const char *text, zb_error *err) {
    size_t size, length;
    bool is_ours = false;
    FILE *others = open_memstream(&s->others, &size);
    if (!others)
        return zb_fail(err, ZB_ENOMEM, "no memory");
    for (const char *line = text; *line; line += length) {
        length = strcspn(line, "\n");
        length += line[length] == '\n';
        const bool is_first = is_line(line, length, FIRST_LINE);
        const bool is_last = is_line(line, length, LAST_LINE);
        if (is_ours && !is_last && strncmp(line, KEY, strlen(KEY)) == 0)
            take_line(s, line, length);
        else if (!is_first && !is_last)
            keep_line(s, others, line, length);
        if (is_first || is_last)
            is_ours = is_first;
    }
    if (fclose(others) != 0)
        return zb_fail(err, ZB_ENOMEM, "no memory");
    return is_ours ? zb_fail(err, ZB_EFORMAT,
                             "'%s' has the line '%.*s' without the one that ends with 'end': take "
                             "these lines out by hand",
                             s->path, (int)strlen(FIRST_LINE) - 1, FIRST_LINE)
                   : ZB_OK;
}

static enum zb_code read_settings(settings *s, zb_error *err) {
    char *text;
    *s = (settings){.path = find_file()};
    enum zb_code code = check_link(s->path, err);
    if (code)
        return code;
    code = read_file(s->path, &text, err);
    if (!code)
        code = split(s, text, err);
    free(text);
    return code;
}

/* ---- The library ---- */

/* The connector of this installation: where the program lies, or where an HDF5 finds it. */
static char *find_library(void) {
    static const char *const folders[] = {"../lib/hdf5", "../" ZB_LIBRARY_FOLDER "/zarrbridge/hdf5",
                                          NULL};
    char *program = realpath("/proc/self/exe", NULL),
         *slash = program ? strrchr(program, '/') : NULL;
    char *found = NULL;
    for (const char *const *folder = folders; slash && *folder && !found; folder++) {
        char *path =
            doctor_print("%.*s/%s/%s", (int)(slash - program), program, *folder, CONNECTOR);
        found = realpath(path, NULL);
        free(path);
    }
    free(program);
    return found ? found : doctor_hdf5_connector();
}

/* Prints why netCDF could not load it. */
static void load_library(void *context, FILE *out) {
    const char *path = context;
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        fprintf(out, "error=the connector does not load: %s\n", dlerror());
    else if (!dlsym(library, FUNCTION))
        fprintf(out, "error='%s' is no connector of zarrbridge that netCDF can load\n", path);
    else
        fputs("loads=1\n", out);
}

/* In a child process: a library may crash, or wait for ever. */
static enum zb_code check_library(const doctor *d, const char *path, zb_error *err) {
    doctor_probe probe = doctor_call(d, load_library, (void *)(uintptr_t)path);
    char *error = doctor_probe_value(&probe, "error", 0);
    enum zb_code code = ZB_OK;
    if (error)
        code = zb_fail(err, ZB_EUNSUPPORTED, "%s", error);
    else if (doctor_probe_number(&probe, "loads") != 1)
        code = zb_fail(err, ZB_EUNSUPPORTED, "loading '%s' %s", path,
                       probe.is_late ? "does not end" : "crashes");
    free(error);
    doctor_probe_clear(&probe);
    return code;
}

/* What netCDF makes of our lines. */
static enum zb_code check_lines(const doctor *d, const settings *s, zb_error *err) {
    return s->has_cr
               ? zb_fail(
                     err, ZB_EFORMAT,
                     "lines of zarrbridge in '%s' end with CR LF, and netCDF takes the CR for a "
                     "part of the names: write them anew by `zarrbridge netcdf --setup`",
                     s->path)
               : check_library(d, s->library, err);
}

static enum zb_code choose_library(const doctor *d, const char *given, char **out, zb_error *err) {
    *out = given ? realpath(given, NULL) : find_library();
    if (!*out)
        return zb_fail(err, ZB_ENOTFOUND,
                       "no %s is found: name it with --library, or set HDF5_PLUGIN_PATH",
                       given ? given : CONNECTOR);
    if (strpbrk(*out, " \t\r\n"))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "netCDF reads no name with a blank in .ncrc, as '%s' has: give the library "
                       "another place",
                       *out);
    return check_library(d, *out, err);
}

/* ---- The command ---- */

static enum zb_code set_up(const doctor *d, settings *s, const char *given, zb_error *err) {
    size_t size, magic = 0;
    char *text = NULL, *library = NULL;
    enum zb_code code = choose_library(d, given, &library, err);
    FILE *out = code ? NULL : open_memstream(&text, &size);
    if (out) {
        fputs(FIRST_LINE, out);
        for (unsigned slot = 0; slot < SLOTS && magic < MAGICS; slot++) {
            if (!s->is_taken[slot])
                fprintf(out, KEY "%u.LIBRARY=%s\n" KEY "%u.INIT=" FUNCTION "\n" KEY "%u.MAGIC=%s\n",
                        slot, library, slot, slot, magics[magic++]);
        }
        fprintf(out, LAST_LINE "%s", s->others);
    }
    if (!code && (!out || fclose(out) != 0))
        code = zb_fail(err, ZB_ENOMEM, "no memory");
    if (!code && magic < MAGICS)
        code =
            zb_fail(err, ZB_ECONFLICT, "'%s' has no place for two more formats of netCDF", s->path);
    if (!code)
        code = write_file(s->path, text, err);
    free(text);
    free(s->library);
    s->library = library;
    return code;
}

static enum zb_code take_out(settings *s, zb_error *err) {
    const enum zb_code code = s->library ? write_file(s->path, s->others, err) : ZB_OK;
    free(s->library);
    s->library = NULL;
    return code;
}

static void tell(const cli_call *call, const settings *s) {
    if (call->json)
        return;
    if (s->library)
        printf("%s: netCDF 4.10.1 and later open x.zarr/zarr.json by %s\n", s->path, s->library);
    else
        printf("%s has no lines of zarrbridge\n", s->path);
    if (getenv("NCRCENV_IGNORE"))
        printf("NCRCENV_IGNORE is set: netCDF reads no such file\n");
}

void doctor_netcdf(doctor *d) {
    zb_error err;
    settings s;
    doctor_begin(d, "netcdf");
    if (read_settings(&s, &err))
        doctor_find(d, DOCTOR_WARN, "netCDF's file of settings: %s -> mend it", err.message);
    else if (!s.library)
        doctor_fact(d, "%s has no lines of zarrbridge", s.path);
    else if (check_lines(d, &s, &err))
        doctor_find(d, DOCTOR_WARN,
                    "netCDF opens no stores by %s, and complains when it starts: %s -> zarrbridge "
                    "netcdf --setup writes the lines anew, --remove takes them out",
                    s.path, err.message);
    else
        doctor_fact(d, "%s: netCDF 4.10.1 and later open x.zarr/zarr.json by %s", s.path,
                    s.library);
    clear(&s);
}

static int run(const cli_call *call) {
    const bool sets = cli_option(call, OPTION_SETUP) != NULL;
    const bool removes = cli_option(call, OPTION_REMOVE) != NULL;
    const char *given = cli_option(call, OPTION_LIBRARY);
    if (sets && removes)
        return cli_misuse(call, "--setup and --remove exclude each other");
    if (given && !sets)
        return cli_misuse(call, "--library belongs to --setup");
    zb_error err;
    settings s;
    const doctor d = {.call = call, .seconds = DOCTOR_SECONDS};
    report doc = report_begin(call, NULL);
    enum zb_code code = read_settings(&s, &err);
    if (!code && sets)
        code = set_up(&d, &s, given, &err);
    else if (!code && removes)
        code = take_out(&s, &err);
    else if (!code && s.library)
        code = check_lines(&d, &s, &err);
    if (code) {
        clear(&s);
        return report_fail(&doc, &err);
    }
    zb_json_writer *w = report_object(call);
    report_text(w, "file", s.path);
    report_text(w, "library", s.library);
    tell(call, &s);
    const int status = report_end(&doc, w, s.library || removes ? CLI_FINE : CLI_FOUND);
    clear(&s);
    return status;
}

const cli_command command_netcdf = {
    .name = "netcdf",
    .arguments = "",
    .summary = "let netCDF-C 4.10.1 and later open stores",
    .description =
        "With a few lines in .ncrc, its file of settings, netCDF-C opens x.zarr/zarr.json and "
        "x.zarr.zip as it opens files, without an environment variable (not archives with a door, "
        "`copy --door`). Each program does so whose netCDF is of version 4.10.1 or later; older "
        "ones skip the lines, and open a store by its door (`zarrbridge door`).\n\n"
        "The file is .ncrc in the directory NCRCENV_HOME or HOME, or the one that NCRCENV_RC "
        "names. Its other lines stay as they are. Without an option the command tells whether it "
        "has the lines, and whether the library that they name is there.",
    .options =
        (const struct argp_option[]){
            {.name = "setup",
             .key = OPTION_SETUP,
             .doc = "write the lines, in place of older ones"},
            {.name = "remove", .key = OPTION_REMOVE, .doc = "take the lines out again"},
            {.name = "library",
             .key = OPTION_LIBRARY,
             .arg = "FILE",
             .doc = "the connector, where it is not found"},
            {0}},
    .examples = (const cli_example[]){{"zarrbridge netcdf --setup", "once for each user"},
                                      {"zarrbridge netcdf", "tell whether that was done"},
                                      {0}},
    .keys = (const cli_example[]){{"file", "the file of settings"},
                                  {"library", "the library that it names, or null"},
                                  {0}},
    .found = "The file has no such lines.",
    .run = run,
};

/* SPDX-License-Identifier: MIT */
#include "cred_places.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cred_process.h"
#include "profile.h"
#include "util/fork.h"
#include "util/in_flight.h"

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for credentials");
}

/* ---- Places ---- */

static char *copy_of(const char *variable) {
    const char *value = zb__variable(variable);
    return value ? strdup(value) : NULL;
}

static char *file_of(const char *variable, const char *name) {
    const char *home = zb__variable("HOME");
    char *path = copy_of(variable);
    if (!path && home && asprintf(&path, "%s/.aws/%s", home, name) < 0)
        path = NULL;
    return path;
}

static bool is_service(void) {
    return zb__variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ||
           zb__variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") ||
           zb__variable("AWS_WEB_IDENTITY_TOKEN_FILE");
}

/* Asking the metadata service costs seconds where there is none. */
static bool is_ec2(void) {
    const char *off = zb__variable("AWS_EC2_METADATA_DISABLED");
    char vendor[32] = "";
    FILE *file = off && strcasecmp(off, "true") == 0
                     ? NULL
                     : fopen("/sys/devices/virtual/dmi/id/board_vendor", "re");
    if (!file)
        return false;
    const bool is = fgets(vendor, sizeof vendor, file) && strncmp(vendor, "Amazon EC2", 10) == 0;
    fclose(file);
    return is;
}

/* What the program says and what the environment says is not mixed: a token belongs to its key. */
static enum zb_code find_given(const zb__options *options, zb__cred *out, zb_error *err) {
    const zb__cred said = {
        .id = options->key_id, .secret = options->secret_key, .token = options->session_token};
    if (said.id || said.secret)
        return zb__cred_copy(&said, out, err);
    *out = (zb__cred){.id = copy_of("AWS_ACCESS_KEY_ID"),
                      .secret = copy_of("AWS_SECRET_ACCESS_KEY"),
                      .token = copy_of("AWS_SESSION_TOKEN")};
    return ZB_OK;
}

enum zb_code zb__cred_places_read(const zb__options *options, zb__cred_places *out, zb_error *err) {
    *out =
        (zb__cred_places){.profile = strdup(options->profile ? options->profile : "default"),
                          .credentials_file = file_of("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
                          .config_file = file_of("AWS_CONFIG_FILE", "config"),
                          .is_chosen = options->profile != NULL,
                          .goes_first = options->names_profile,
                          .is_service = is_service(),
                          .is_ec2 = is_ec2()};
    enum zb_code code = out->profile ? find_given(options, &out->variables, err) : no_memory(err);
    if (!code)
        code = zb__cred_check(&out->variables, err);
    if (!code && !out->variables.id != !out->variables.secret)
        code = zb_fail(err, ZB_EINVAL,
                       "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY one is missing");
    if (code)
        zb__cred_places_clear(out);
    return code;
}

void zb__cred_places_clear(zb__cred_places *places) {
    zb__cred_clear(&places->variables);
    free(places->profile);
    free(places->credentials_file);
    free(places->config_file);
    *places = (zb__cred_places){.profile = NULL};
}

/* ---- Answers of programs ---- */

/* One for each command, as long as the process. */
typedef struct program {
    char *command; /* its words */
    zb__cred cred; /* the last that it has printed */
    struct program *next;
} program;

/* One who wants what it prints. */
typedef struct asker {
    zb__in_flight base;
    program *program;
    const char *const *argv;
    const char *what;
    bool anew;
    zb__stopper *stopper;
} asker;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static program *programs; /* guarded by the lock, with all that is in them */

static void prepare(void) {
    static zb__fork_guard guard = {.lock = &lock};
    zb__fork_guard_add(&guard);
}

/* The words of a command are told apart by its first three: "sh -c COMMAND", and for the AWS
   command line "aws --profile=NAME ...". */
static program *program_of(const char *const *argv) {
    char *command = NULL;
    if (asprintf(&command, "%s\n%s\n%s", argv[0], argv[1], argv[2]) < 0)
        return NULL;
    pthread_mutex_lock(&lock);
    program **at = &programs;
    while (*at && strcmp((*at)->command, command) != 0)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->command = command;
        command = NULL;
    }
    program *found = *at;
    pthread_mutex_unlock(&lock);
    free(command);
    return found;
}

static bool is_known(const asker *a) {
    pthread_mutex_lock(&lock);
    const bool is = !a->anew && zb__cred_is_good(&a->program->cred);
    pthread_mutex_unlock(&lock);
    return is;
}

static bool is_same(const zb__in_flight *one, const zb__in_flight *other) {
    return ((const asker *)one)->program == ((const asker *)other)->program;
}

/* Another one may have led, and left, since this one has looked. */
static enum zb_code run(zb__in_flight *own, zb__answer **unused, zb_error *err) {
    const asker *a = (const asker *)own;
    zb__cred fresh;
    (void)unused;
    if (is_known(a))
        return ZB_OK;
    const enum zb_code code = zb__cred_run(a->argv, a->what, a->stopper, &fresh, err);
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    zb__cred_clear(&a->program->cred);
    a->program->cred = fresh;
    pthread_mutex_unlock(&lock);
    return ZB_OK;
}

/* Stores that are opened together run a program once. */
static enum zb_code ask(const char *const *argv, const char *what, bool anew, zb__stopper *stopper,
                        zb__cred *out, zb_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    asker a = {.base.is_same = is_same,
               .program = program_of(argv),
               .argv = argv,
               .what = what,
               .anew = anew,
               .stopper = stopper};
    zb__answer *none;
    enum zb_code code = a.program ? ZB_OK : no_memory(err);
    if (!code && !is_known(&a))
        code = zb__in_flight_ask(&a.base, stopper, run, &none, err);
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    code = zb__cred_copy(&a.program->cred, out, err);
    pthread_mutex_unlock(&lock);
    return code;
}

static enum zb_code ask_process(const zb__profile *profile, bool anew, zb__stopper *stopper,
                                zb__cred *out, zb_error *err) {
    const char *const argv[] = {"/bin/sh", "-c", profile->process, NULL};
    return ask(argv, "credential_process", anew, stopper, out, err);
}

static enum zb_code ask_command_line(const zb__cred_places *places, bool anew, zb__stopper *stopper,
                                     zb__cred *out, zb_error *err) {
    char *option = NULL;
    if (asprintf(&option, "--profile=%s", places->profile) < 0)
        return no_memory(err);
    const char *const chosen[] = {"aws",      option,    "configure", "export-credentials",
                                  "--format", "process", NULL};
    const char *const plain[] = {"aws",      "configure", "export-credentials",
                                 "--format", "process",   NULL};
    enum zb_code code =
        ask(places->is_chosen ? chosen : plain,
            "the AWS command line (aws configure export-credentials)", anew, stopper, out, err);
    free(option);
    return code;
}

/* ---- The chain ---- */

static enum zb_code from_profile(const zb__cred_places *places, zb__profile *profile, bool anew,
                                 zb__stopper *stopper, zb__cred *out, zb_error *err) {
    if (profile->is_elsewhere)
        return ask_command_line(places, anew, stopper, out, err);
    if (profile->id || profile->secret) {
        if (!profile->id || !profile->secret)
            return zb_fail(err, ZB_EINVAL,
                           "of aws_access_key_id and aws_secret_access_key one is missing");
        *out = (zb__cred){.id = profile->id, .secret = profile->secret, .token = profile->token};
        profile->id = profile->secret = profile->token = NULL;
        return zb__cred_check(out, err);
    }
    return profile->process ? ask_process(profile, anew, stopper, out, err) : ZB_OK;
}

static enum zb_code from_files(const zb__cred_places *places, bool anew, zb__stopper *stopper,
                               zb__cred *out, zb_error *err) {
    zb__profile profile;
    enum zb_code code = zb__profile_read(places->credentials_file, places->config_file,
                                         places->profile, &profile, err);
    if (code)
        return code;
    if (!profile.exists && places->is_chosen)
        code = zb_fail(err, ZB_EINVAL, "no file has the profile '%s'", places->profile);
    else
        code = from_profile(places, &profile, anew, stopper, out, err);
    zb__profile_clear(&profile);
    return code == ZB_EINVAL ? zb_error_prefix(err, code, "profile '%s'", places->profile) : code;
}

enum zb_code zb__cred_find(const zb__cred_places *places, bool anew, zb__stopper *stopper,
                           zb__cred *out, zb_error *err) {
    enum zb_code code = ZB_OK;
    zb_error unheard;
    *out = (zb__cred){.id = NULL};
    if (places->variables.id && !places->goes_first)
        return zb__cred_copy(&places->variables, out, err);
    code = from_files(places, anew, stopper, out, err);
    if (!code && !out->id && places->is_service)
        code = ask_command_line(places, anew, stopper, out, err);
    else if (!code && !out->id && places->is_ec2 && /* such a machine need not have a role */
             ask_command_line(places, anew, stopper, out, &unheard) == ZB_ECANCELLED)
        code = zb__fail_stopped(err);
    if (!code && !out->id && places->goes_first)
        code = zb_fail(err, ZB_EINVAL, "the profile '%s' has no credentials", places->profile);
    if (code)
        zb__cred_clear(out);
    return code;
}

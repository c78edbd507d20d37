/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "secret.h"

#define MOST_VARIABLES 4

enum kind { CHOICE, TEXT };

typedef struct option {
    const char *name;
    enum kind kind;
    size_t offset; /* in zb__options */
    const char *variables[MOST_VARIABLES];
} option;

#define OPTION(field, kind, ...)                                                                   \
    {                                                                                              \
        #field, kind, offsetof(zb__options, field), {                                              \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const option table[] = {
    OPTION(account, TEXT),
    OPTION(anon, CHOICE, "AWS_NO_SIGN_REQUEST", "AWS_SKIP_SIGNATURE", "AZURE_NO_SIGN_REQUEST"),
    OPTION(ca_file, TEXT, "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
           "GDAL_CURL_CA_BUNDLE"),
    OPTION(endpoint, TEXT, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    OPTION(missing_403, CHOICE, "ZARRBRIDGE_REMOTE_MISSING_403"),
    OPTION(path_style, CHOICE, "HDF5_ROS3_VFD_FORCE_PATH_STYLE"),
    OPTION(profile, TEXT, "AWS_PROFILE", "AWS_DEFAULT_PROFILE"),
    OPTION(proxy, TEXT),
    OPTION(region, TEXT, "AWS_REGION", "AWS_DEFAULT_REGION"),
    OPTION(requester_pays, CHOICE),
};

#define OPTIONS (sizeof table / sizeof *table)

const char *zb__variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* "yes", "true", "on", "1", or their opposites, in letters of any size. False: the text is none. */
static bool choice_of(const char *text, enum zb__choice *out) {
    static const char *const words[2][4] = {{"no", "false", "off", "0"},
                                            {"yes", "true", "on", "1"}};
    for (size_t i = 0; i < 8; i++) {
        if (strcasecmp(text, words[i / 4][i % 4]) == 0) {
            *out = i / 4 ? ZB__YES : ZB__NO;
            return true;
        }
    }
    return false;
}

static void *field_of(zb__options *options, const option *o) {
    return (char *)options + o->offset;
}

static bool is_said(zb__options *options, const option *o) {
    return o->kind == TEXT ? *(char **)field_of(options, o) != NULL
                           : *(enum zb__choice *)field_of(options, o) != ZB__UNSAID;
}

static enum zb_code set(zb__options *options, const option *o, const char *value, const char *from,
                        zb_error *err) {
    if (o->kind == CHOICE) {
        if (choice_of(value, field_of(options, o)))
            return ZB_OK;
        return zb_fail(err, ZB_EINVAL, "%s is neither yes nor no", from);
    }
    char *copy = strdup(value), **field = field_of(options, o);
    if (!copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for options");
    free(*field);
    *field = copy;
    return ZB_OK;
}

/* ---- The name's options ---- */

static const option *find(const char *name, size_t length) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    }
    return NULL;
}

/* What stands before the '=' is taken for a name only if it looks like one. */
static enum zb_code unknown(const char *name, size_t length, zb_error *err) {
    const bool is_name =
        length <= 30 && strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") >= length;
    return zb_fail(
        err, ZB_EINVAL,
        "'%.*s' is no option of a store on the network: there are account, anon, "
        "ca_file, endpoint, missing_403, path_style, profile, proxy, region, requester_pays "
        "(credentials stand in "
        "the environment or in files, never in names)",
        is_name ? (int)length : 0, name);
}

static enum zb_code set_one(zb__options *options, const char *at, size_t length, zb_error *err) {
    const char *equals = memchr(at, '=', length);
    const size_t named = equals ? (size_t)(equals - at) : length;
    const option *o = find(at, named);
    int size = 0;
    if (!o)
        return unknown(at, named, err);
    if (!equals)
        return o->kind == CHOICE ? set(options, o, "1", o->name, err)
                                 : zb_fail(err, ZB_EINVAL, "the option %s needs a value", o->name);
    char *value = length - named - 1
                      ? curl_easy_unescape(NULL, equals + 1, (int)(length - named - 1), &size)
                      : strdup("");
    enum zb_code code = ZB_OK;
    if (!value)
        code = zb_fail(err, ZB_ENOMEM, "no memory for options");
    else if (strlen(value) != (size_t)size || !size)
        code = zb_fail(err, ZB_EINVAL, "the option %s needs a value", o->name);
    else
        code = set(options, o, value, o->name, err);
    if (size)
        curl_free(value);
    else
        free(value);
    return code;
}

static enum zb_code read_text(const char *text, zb__options *options, zb_error *err) {
    enum zb_code code = ZB_OK;
    while (text && *text && !code) {
        const size_t length = strcspn(text, "&");
        if (length > INT32_MAX)
            return zb_fail(err, ZB_EINVAL, "the options are too long");
        if (length)
            code = set_one(options, text, length, err);
        text += length + (text[length] == '&');
    }
    return code;
}

/* ---- The front end's secrets ---- */

static enum zb_code keep(const char *value, char **field, zb_error *err) {
    *field = value && *value ? strdup(value) : NULL;
    return value && *value && !*field ? zb_fail(err, ZB_ENOMEM, "no memory for options") : ZB_OK;
}

static enum zb_code read_secrets(const zb_store_settings *settings, zb__options *options,
                                 zb_error *err) {
    enum zb_code code = keep(settings->headers, &options->headers, err);
    if (!code)
        code = keep(settings->key_id, &options->key_id, err);
    if (!code)
        code = keep(settings->secret_key, &options->secret_key, err);
    if (!code)
        code = keep(settings->session_token, &options->session_token, err);
    return code;
}

/* ---- The environment's ---- */

enum cloud { AWS, AZURE };

/* A variable of one cloud says nothing of a store in the other one. */
static bool is_foreign(const char *variable, enum cloud cloud) {
    const bool is_azure = strncmp(variable, "AZURE_", 6) == 0;
    return cloud == AZURE ? strncmp(variable, "AWS_", 4) == 0 : is_azure;
}

static enum zb_code read_variables(zb__options *options, enum cloud cloud, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < OPTIONS && !code; i++) {
        for (size_t j = 0; j < MOST_VARIABLES && table[i].variables[j] && !code; j++) {
            const char *name = table[i].variables[j], *value = zb__variable(name);
            if (value && !is_foreign(name, cloud) && !is_said(options, &table[i]))
                code = set(options, &table[i], value, name, err);
        }
    }
    return code;
}

/* GDAL's names for an endpoint and for path style. */
static enum zb_code read_gdal_variables(zb__options *options, zb_error *err) {
    enum zb__choice choice = ZB__UNSAID;
    const char *host = zb__variable("AWS_S3_ENDPOINT"), *https = zb__variable("AWS_HTTPS");
    const char *hosting = zb__variable("AWS_VIRTUAL_HOSTING");
    if (host && !options->endpoint) {
        const bool is_plain = https && choice_of(https, &choice) && choice == ZB__NO;
        const char *scheme = strstr(host, "://") ? "" : is_plain ? "http://" : "https://";
        if (asprintf(&options->endpoint, "%s%s", scheme, host) < 0) {
            options->endpoint = NULL;
            return zb_fail(err, ZB_ENOMEM, "no memory for options");
        }
    }
    if (hosting && options->path_style == ZB__UNSAID && choice_of(hosting, &choice))
        options->path_style = choice == ZB__YES ? ZB__NO : ZB__YES;
    return ZB_OK;
}

/* Of an option that is said twice the last counts. Credentials of a program count before a profile
   that the program names, too, but not before that of the store's name. */
static enum zb_code read_options(const char *text, const zb_store_settings *settings,
                                 enum cloud cloud, zb__options *out, zb_error *err) {
    *out = (zb__options){.region = NULL};
    enum zb_code code = read_text(settings->options, out, err);
    const bool is_said_profile = out->profile && !settings->key_id;
    char *said = out->profile;
    out->profile = NULL;
    if (!code)
        code = read_text(text, out, err);
    out->names_profile = out->profile || is_said_profile;
    if (out->profile)
        free(said);
    else
        out->profile = said;
    if (!code)
        code = read_secrets(settings, out, err);
    if (!code)
        code = read_variables(out, cloud, err);
    if (!code && cloud == AWS)
        code = read_gdal_variables(out, err);
    if (!code && out->proxy && strchr(out->proxy, '@'))
        code = zb_fail(err, ZB_EINVAL,
                       "the option proxy has no user and no password: those stand in the "
                       "environment, in https_proxy");
    const char *payer = zb__variable("AWS_REQUEST_PAYER");
    if (payer && cloud == AWS && out->requester_pays == ZB__UNSAID)
        out->requester_pays = strcasecmp(payer, "requester") == 0 ? ZB__YES : ZB__NO;
    if (code)
        zb__options_clear(out);
    return code;
}

enum zb_code zb__options_read(const char *text, const zb_store_settings *settings, zb__options *out,
                              zb_error *err) {
    return read_options(text, settings, AWS, out, err);
}

enum zb_code zb__options_read_azure(const char *text, const zb_store_settings *settings,
                                    zb__options *out, zb_error *err) {
    return read_options(text, settings, AZURE, out, err);
}

void zb__options_clear(zb__options *options) {
    free(options->account);
    free(options->region);
    free(options->endpoint);
    free(options->profile);
    free(options->ca_file);
    free(options->proxy);
    zb__secret_free(options->headers);
    zb__secret_free(options->key_id);
    zb__secret_free(options->secret_key);
    zb__secret_free(options->session_token);
    *options = (zb__options){.region = NULL};
}

/* SPDX-License-Identifier: MIT */
/*
 * Azure Blob Storage: URLs, the signature of requests, what errors mean, listings, and where an
 * account's key stands. The rest of writing is that of all services with conditions
 * (conditional.h), which Azure always keeps to. A store's settings stay as they are when it is
 * opened, so that there is nothing to guard.
 *
 * Source: Microsoft's REST API reference of Blob Storage, "Authorize with Shared Key", "Get Blob",
 * "Put Blob", "Delete Blob", "List Blobs", "Status and error codes".
 */
#include "azure.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "conditional.h"
#include "options.h"
#include "remote.h"
#include "secret.h"
#include "sha256.h"
#include "url.h"
#include "util/base64.h"

#define API_VERSION "2021-12-02"

/* What one Put Blob takes. */
#define MOST_AT_ONCE ((uint64_t)5000 << 20)

/* A page has 5000 names of 1024 characters at most, with all that Azure says of each. */
#define MOST_PAGE (64u * 1024u * 1024u)

typedef struct azure {
    zb__bucket_name name; /* the bucket is the container */
    zb__url endpoint;
    char *account;
    char *key; /* NULL: requests are not signed; else `size` bytes */
    size_t key_size;
    char *sas; /* a query that goes with each request; or NULL */
} azure;

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a store in Azure");
}

static void azure_destroy(zb__remote *store) {
    azure *a = store->state;
    zb__bucket_name_clear(&a->name);
    zb__url_clear(&a->endpoint);
    free(a->account);
    if (a->key)
        explicit_bzero(a->key, a->key_size);
    free(a->key);
    zb__secret_free(a->sas);
    free(a);
}

/* ---- Requests ---- */

static char *url_of(const azure *a, const zb__request *request) {
    zb__text text = {.data = NULL};
    zb__text_addf(&text, "%s/%s", a->endpoint.base, a->name.bucket);
    if (request->key) {
        zb__text_add(&text, "/");
        zb__url_encode(&text, a->name.prefix, true);
        zb__url_encode(&text, request->key, true);
    }
    if (request->query)
        zb__text_addf(&text, "?%s", request->query);
    if (a->sas)
        zb__text_addf(&text, "%s%s", request->query ? "&" : "?", a->sas);
    return zb__text_take(&text, NULL);
}

static enum zb_code azure_address(zb__remote *store, const zb__request *request, zb__outgoing *out,
                                  zb_error *err) {
    enum zb_code code = zb__key_check(request->key, err);
    if (code)
        return code;
    out->url = url_of(store->state, request);
    code = out->url ? zb__outgoing_add(out, err, "x-ms-version: " API_VERSION) : no_memory(err);
    if (!code && request->method == ZB__PUT)
        code = zb__outgoing_add(out, err, "x-ms-blob-type: BlockBlob");
    return code;
}

/* ---- Signatures ---- */

static const char *value_of(const char *header) {
    const char *colon = strchr(header, ':');
    return colon ? colon + 1 + strspn(colon + 1, " ") : "";
}

/* The lines of these headers, each as its value alone, "" for one that is not there. */
static void add_values(zb__text *text, const zb__outgoing *out, const char *const *names) {
    for (; *names; names++) {
        const size_t length = strlen(*names);
        for (size_t i = 0; i < out->header_count; i++) {
            if (strncasecmp(out->headers[i], *names, length) == 0 && out->headers[i][length] == ':')
                zb__text_add(text, value_of(out->headers[i]));
        }
        zb__text_add(text, "\n");
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Azure's own headers, sorted; we write their names in small letters. No order counts for a
   server. */
static void add_own_headers(zb__text *text, const zb__outgoing *out) {
    qsort(out->headers, out->header_count, sizeof *out->headers, by_text);
    for (size_t i = 0; i < out->header_count; i++) {
        const char *header = out->headers[i];
        if (strncmp(header, "x-ms-", 5) == 0)
            zb__text_addf(text, "%.*s:%s\n", (int)strcspn(header, ":"), header, value_of(header));
    }
}

/* The path as it is sent, and the query: its names are sorted already, and its values decoded. */
static void add_resource(zb__text *text, const azure *a, const char *url) {
    const char *path = strchr(strstr(url, "://") + 3, '/');
    const size_t length = strcspn(path, "?");
    zb__text_addf(text, "/%s%.*s", a->account, (int)length, path);
    for (const char *at = path + length; *at;) {
        const char *name = at + 1;
        const size_t size = strcspn(name, "&"), named = strcspn(name, "=&");
        int decoded = 0;
        char *value = size > named ? curl_easy_unescape(NULL, name + named + 1,
                                                        (int)(size - named - 1), &decoded)
                                   : NULL;
        zb__text_addf(text, "\n%.*s:%s", (int)named, name, value ? value : "");
        curl_free(value);
        at = name + size;
    }
}

static char *text_to_sign(const azure *a, const zb__request *request, const zb__outgoing *out) {
    static const char *const before[] = {"Content-Encoding", "Content-Language", NULL};
    static const char *const behind[] = {"Content-MD5",         "Content-Type", "Date",
                                         "If-Modified-Since",   "If-Match",     "If-None-Match",
                                         "If-Unmodified-Since", "Range",        NULL};
    static const char *const methods[] = {[ZB__GET] = "GET",
                                          [ZB__HEAD] = "HEAD",
                                          [ZB__PUT] = "PUT",
                                          [ZB__POST] = "POST",
                                          [ZB__DELETE] = "DELETE"};
    zb__text text = {.data = NULL};
    zb__text_addf(&text, "%s\n", methods[request->method]);
    add_values(&text, out, before);
    if (request->body_size)
        zb__text_addf(&text, "%zu", request->body_size);
    zb__text_add(&text, "\n");
    add_values(&text, out, behind);
    add_own_headers(&text, out);
    add_resource(&text, a, out->url);
    return zb__text_take(&text, NULL);
}

static enum zb_code add_date(zb__outgoing *out, zb_error *err) {
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
                             *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const time_t now = time(NULL);
    struct tm t;
    if (!gmtime_r(&now, &t))
        return zb_fail(err, ZB_EIO, "the clock tells no time");
    return zb__outgoing_add(out, err, "x-ms-date: %s, %02d %s %04d %02d:%02d:%02d GMT",
                            days[t.tm_wday], t.tm_mday, months[t.tm_mon], t.tm_year + 1900,
                            t.tm_hour, t.tm_min, t.tm_sec);
}

static enum zb_code azure_sign(const zb__remote *store, const zb__request *request,
                               zb__outgoing *out, zb_error *err) {
    const azure *a = store->state;
    uint8_t digest[ZB__SHA256_BYTES];
    char signature[4 * ZB__SHA256_BYTES];
    if (!a->key)
        return ZB_OK;
    enum zb_code code = add_date(out, err);
    if (code)
        return code;
    char *text = text_to_sign(a, request, out);
    if (!text)
        return no_memory(err);
    zb__hmac_sha256(a->key, a->key_size, text, strlen(text), digest);
    free(text);
    zb__base64_encode(digest, sizeof digest, signature);
    return zb__outgoing_add(out, err, "Authorization: SharedKey %s:%s", a->account, signature);
}

/* ---- Replies ---- */

/* A code has letters and digits. */
static const char *code_of(const zb__reply *reply) {
    for (const char *at = reply->error; *at; at++) {
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", *at))
            return "";
    }
    return reply->error;
}

static enum zb__verdict fail_denied(const azure *a, const zb__reply *reply, const char *code,
                                    zb_error *err) {
    zb_fail(err, ZB_EIO, "access is denied (HTTP status %d%s%s): %s", reply->status,
            *code ? ", " : "", code,
            a->key ? "the account's key is another one, or this machine's clock is wrong, or the "
                     "account does not allow this"
            : a->sas
                ? "the shared access signature (SAS) is not valid, has expired, or does not "
                  "allow this"
                : "the request was not signed: there is neither a key nor a SAS of the account "
                  "(AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, "
                  "AZURE_STORAGE_CONNECTION_STRING)");
    return ZB__FAILED;
}

/* What is not there, and a condition that does not hold, is the engine's to judge. */
static enum zb__verdict azure_judge(zb__remote *store, const zb__request *request,
                                    const zb__reply *reply, zb_error *err) {
    const azure *a = store->state;
    const char *code = code_of(reply);
    const int status = reply->status;
    (void)request;
    if (strcmp(code, "ContainerNotFound") == 0) {
        zb_fail(err, ZB_EIO, "there is no container '%s' in the account '%s'", a->name.bucket,
                a->account);
        return ZB__FAILED;
    }
    /* Of what may not be read without a signature Azure says that it is not there. */
    const bool is_hidden =
        !a->key && !a->sas &&
        (strcmp(code, "ResourceNotFound") == 0 || strcmp(code, "PublicAccessNotPermitted") == 0);
    if (status == 401 || status == 403 || is_hidden)
        return fail_denied(a, reply, code, err);
    const bool is_plain =
        !*code || status >= 500 || status == 408 || status == 416 || status == 429;
    if (is_plain || strcmp(code, "BlobNotFound") == 0 || strcmp(code, "ConditionNotMet") == 0 ||
        strcmp(code, "BlobAlreadyExists") == 0)
        return ZB__BY_STATUS;
    zb_fail(err, ZB_EIO, "HTTP status %d, %s", status, code);
    return ZB__FAILED;
}

/* ---- Listings ---- */

/* Names in the order that signatures need. */
static char *query_of(const zb__listing *l, const char *end, unsigned most) {
    zb__text text = {.data = NULL};
    zb__text_add(&text, l->is_deep ? "comp=list" : "comp=list&delimiter=%2F");
    if (*l->marker) {
        zb__text_add(&text, "&marker=");
        zb__url_encode(&text, l->marker, false);
    }
    if (most)
        zb__text_addf(&text, "&maxresults=%u", most);
    zb__text_add(&text, "&prefix=");
    zb__url_encode(&text, l->prefix, false);
    zb__url_encode(&text, end, false);
    zb__text_add(&text, "&restype=container");
    return zb__text_take(&text, NULL);
}

static const zb__pages pages = {
    .words = &zb__page_of_azure, .most = MOST_PAGE, .query = query_of, .take = zb__listing_take};

static const char *root_of(const zb__remote *store) {
    return ((const azure *)store->state)->name.prefix;
}

static enum zb_code azure_list(zb__remote *store, const zb_list *list, zb_list_fn fn, void *context,
                               zb_error *err) {
    zb__listing l = {.store = store,
                     .pages = &pages,
                     .is_deep = list->is_recursive,
                     .fn = fn,
                     .context = context};
    return zb__listing_run(&l, root_of(store), list->prefix, *list->prefix ? "/" : "", err);
}

static enum zb_code find_below(zb__remote *store, const char *prefix, zb__finds *finds,
                               zb_error *err) {
    zb__listing l = {.store = store, .pages = &pages, .is_deep = true, .finds = finds};
    return zb__listing_run(&l, root_of(store), prefix, *prefix ? "/" : "", err);
}

static bool is_absent(zb__remote *store, const char *prefix) {
    zb__listing l = {.store = store, .pages = &pages};
    return zb__listing_is_empty(&l, root_of(store), prefix);
}

/* ---- What such a store can do ---- */

static enum zb_code measure(zb__sending *s, zb_error *err) {
    if (s->size <= MOST_AT_ONCE)
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most 5000 MiB here: choose smaller chunks or "
                   "shards",
                   s->store->base.label, s->put->key);
}

static const zb__service service = {.mark = "x-ms-meta-zbwrite",
                                    .measure = measure,
                                    .find_below = find_below,
                                    .is_absent = is_absent};

static const zb__protocol protocol = {.name = "azure",
                                      .lacks_suffixes = true,
                                      .address = azure_address,
                                      .sign = azure_sign,
                                      .judge = azure_judge,
                                      .list = azure_list,
                                      .answered = zb__conditional_answered,
                                      .is_locked = zb__conditional_is_locked,
                                      .service = &service,
                                      .destroy = azure_destroy};

/* ---- Its settings ---- */

/* A value of a connection string, "name=value;name=value", malloc'ed. NULL: it is not there, or
   memory is short, which *code tells. */
static char *value_in(const char *text, const char *name, enum zb_code *code, zb_error *err) {
    const size_t length = strlen(name);
    while (text && *text) {
        const size_t size = strcspn(text, ";");
        if (size > length + 1 && strncasecmp(text, name, length) == 0 && text[length] == '=') {
            char *value = strndup(text + length + 1, size - length - 1);
            *code = value ? *code : no_memory(err);
            return value;
        }
        text += size + (text[size] == ';');
    }
    return NULL;
}

static enum zb_code copy_of(const char *text, char **out, zb_error *err) {
    *out = text ? strdup(text) : NULL;
    return text && !*out ? no_memory(err) : ZB_OK;
}

/* Where secrets may stand, and what they say; all of one account. */
typedef struct found {
    char *account, *endpoint, *suffix, *protocol, *key, *sas;
} found;

static void found_clear(found *f) {
    free(f->account);
    free(f->endpoint);
    free(f->suffix);
    free(f->protocol);
    zb__secret_free(f->key);
    zb__secret_free(f->sas);
}

static enum zb_code read_string(const char *text, found *f, zb_error *err) {
    enum zb_code code = ZB_OK;
    f->account = value_in(text, "AccountName", &code, err);
    f->endpoint = value_in(text, "BlobEndpoint", &code, err);
    f->suffix = value_in(text, "EndpointSuffix", &code, err);
    f->protocol = value_in(text, "DefaultEndpointsProtocol", &code, err);
    f->key = value_in(text, "AccountKey", &code, err);
    f->sas = value_in(text, "SharedAccessSignature", &code, err);
    return code;
}

/* The front end's secrets, else those of the connection string, else those of other variables. */
static enum zb_code look_for(const zb__options *options, found *f, zb_error *err) {
    const char *string = zb__variable("AZURE_STORAGE_CONNECTION_STRING");
    const char *account = zb__variable("AZURE_STORAGE_ACCOUNT");
    const char *key = zb__variable("AZURE_STORAGE_KEY");
    const bool is_told = options->secret_key || options->session_token;
    enum zb_code code = ZB_OK;
    if (is_told || !string) {
        account = is_told ? options->key_id : account;
        key = is_told ? options->secret_key : key ? key : zb__variable("AZURE_STORAGE_ACCESS_KEY");
        code = copy_of(account, &f->account, err);
        if (!code)
            code = copy_of(key, &f->key, err);
        if (!code)
            code =
                copy_of(is_told ? options->session_token : zb__variable("AZURE_STORAGE_SAS_TOKEN"),
                        &f->sas, err);
        return code;
    }
    return read_string(string, f, err);
}

static enum zb_code set_key(azure *a, const char *text, zb_error *err) {
    a->key_size = zb__base64_bytes(text);
    a->key = malloc(a->key_size + 1);
    if (!a->key)
        return no_memory(err);
    if (a->key_size && zb__base64_decode(text, (uint8_t *)a->key))
        return ZB_OK;
    return zb_fail(err, ZB_EINVAL, "the key of the account is no base64");
}

/* It goes into URLs as it is. */
static enum zb_code set_sas(azure *a, const char *text, zb_error *err) {
    text += *text == '?';
    for (const char *at = text; *at; at++) {
        if (*at <= ' ' || *at > '~' || *at == '#')
            return zb_fail(err, ZB_EINVAL, "the shared access signature (SAS) is not valid");
    }
    return copy_of(text, &a->sas, err);
}

static enum zb_code set_endpoint(azure *a, const char *said, const found *f, zb_error *err) {
    char *made = NULL;
    if (!said && asprintf(&made, "%s://%s.blob.%s", f->protocol ? f->protocol : "https", a->account,
                          f->suffix ? f->suffix : "core.windows.net") < 0)
        return no_memory(err);
    const enum zb_code code = zb__endpoint_parse(said ? said : made, &a->endpoint, err);
    free(made);
    return code;
}

/* The name stands in a host, and is signed. */
static enum zb_code set_account(azure *a, const char *said, zb_error *err) {
    if (!said)
        return zb_fail(err, ZB_EINVAL,
                       "which account has the container '%s' is not known: say account= in the "
                       "name, or AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING in the "
                       "environment",
                       a->name.bucket);
    if (!*said || strspn(said, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(said))
        return zb_fail(err, ZB_EINVAL, "the account's name is not valid");
    return copy_of(said, &a->account, err);
}

/* What is known of one account says nothing of another one, and its secrets do not go there. */
static enum zb_code configure(azure *a, const zb__options *options, const found *f, zb_error *err) {
    const char *account = options->account  ? options->account
                          : options->key_id ? options->key_id
                                            : f->account;
    enum zb_code code = set_account(a, account, err);
    if (code)
        return code;
    const bool is_meant = !f->account || strcmp(f->account, a->account) == 0;
    const found none = {.key = NULL}, *known = is_meant ? f : &none;
    code = set_endpoint(a, options->endpoint ? options->endpoint : known->endpoint, known, err);
    if (code || options->anon == ZB__YES)
        return code;
    if (known->key)
        return set_key(a, known->key, err);
    return known->sas ? set_sas(a, known->sas, err) : ZB_OK;
}

enum zb_code zb__azure_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                            char **label, zb_error *err) {
    zb__options options = {.region = NULL};
    found f = {.key = NULL};
    azure *a = calloc(1, sizeof *a);
    if (!a)
        return no_memory(err);
    store->protocol = &protocol;
    store->state = a;
    enum zb_code code = zb__bucket_name_parse(name, "az://", &a->name, err);
    if (!code)
        code = zb__options_read_azure(a->name.options, settings, &options, err);
    if (!code)
        code = look_for(&options, &f, err);
    if (!code)
        code = configure(a, &options, &f, err);
    if (!code)
        code = copy_of(a->name.label, label, err);
    found_clear(&f);
    zb__remote_take_options(store, &options);
    return code;
}

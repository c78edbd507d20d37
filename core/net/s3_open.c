/* SPDX-License-Identifier: MIT */
#include "s3_open.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "conditional_put.h"
#include "options.h"
#include "profile.h"
#include "remote.h"
#include "s3.h"
#include "s3_ability.h"
#include "s3_copy.h"
#include "s3_list.h"
#include "s3_parts.h"
#include "s3_uploads.h"

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a store in S3");
}

/* ---- How objects go there: by one request, or large ones in parts ---- */

/* The most that S3 takes in one request, and in parts. */
#define MOST_AT_ONCE ((uint64_t)5 << 30)
#define MOST_IN_PARTS ((uint64_t)5 << 40)

static enum zb_code measure(zb__sending *s, zb_error *err) {
    s->in_parts = zb__s3_pays_in_parts(s->size) && zb__s3_takes_parts(s->store);
    if (s->size <= (s->in_parts ? MOST_IN_PARTS : MOST_AT_ONCE))
        return ZB_OK;
    return zb_fail(err, ZB_ELIMIT,
                   "%s/%s: an object is put with at most %s here: choose smaller chunks or shards",
                   s->store->base.label, s->put->key, s->in_parts ? "5 TiB" : "5 GiB");
}

static enum zb_code send_in_parts(zb__sending *s, const char *mark, const char *condition,
                                  bool *in_doubt, zb_error *err) {
    const zb__s3_upload upload = {.store = s->store,
                                  .put = s->put,
                                  .is_refused = &s->is_refused,
                                  .size = s->size,
                                  .mark = mark,
                                  .condition = condition};
    const zb__version seen = s->version;
    enum zb_code code = zb__s3_upload_run(&upload, &s->version, in_doubt, err);
    if (code != ZB_EUNSUPPORTED || s->is_refused || s->size > MOST_AT_ONCE)
        return code;
    atomic_store(&((zb__s3 *)s->store->state)->takes_parts, ZB__NO);
    s->version = seen;
    return zb__conditional_send_whole(s, mark, condition, in_doubt, err);
}

/* ---- What such a store can do ---- */

static const zb__service service = {.mark = "x-amz-meta-zb-write",
                                    .check = zb__s3_check_conditions,
                                    .erases_as_seen = zb__s3_erases_as_seen,
                                    .measure = measure,
                                    .send_in_parts = send_in_parts,
                                    .find_below = zb__s3_find_below,
                                    .is_absent = zb__s3_is_absent,
                                    .copy = zb__s3_copy,
                                    .sweep = zb__s3_sweep};

static const zb__protocol protocol = {.name = "s3",
                                      .address = zb__s3_address,
                                      .judge = zb__s3_judge,
                                      .prepare = zb__s3_prepare,
                                      .renew = zb__s3_renew,
                                      .list = zb__s3_list,
                                      .answered = zb__conditional_answered,
                                      .is_locked = zb__conditional_is_locked,
                                      .service = &service,
                                      .destroy = zb__s3_destroy};

/* ---- Its settings ---- */

/* A bucket whose name can stand in the name of a host, and in a certificate's. */
static bool is_host_label(const char *bucket) {
    const size_t length = strlen(bucket);
    return length >= 3 && length <= 63 && bucket[length - 1] != '-' &&
           strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static enum zb_code set_endpoint(zb__s3 *s3, const char *endpoint, zb_error *err) {
    if (!endpoint)
        return ZB_OK;
    if (!strstr(endpoint, "://"))
        return zb_fail(err, ZB_EINVAL, "the endpoint is no https:// or http:// URL");
    return zb__endpoint_parse(endpoint, &s3->endpoint, err);
}

static enum zb_code configure(zb__s3 *s3, const zb__options *options, const zb__profile *profile,
                              zb_error *err) {
    const char *region = options->region ? options->region : profile->region;
    enum zb_code code =
        set_endpoint(s3, options->endpoint ? options->endpoint : profile->endpoint, err);
    if (code)
        return code;
    s3->anon = options->anon == ZB__YES;
    s3->requester_pays = options->requester_pays == ZB__YES;
    s3->path_style = options->path_style == ZB__YES || !is_host_label(s3->name.bucket) ||
                     (options->path_style == ZB__UNSAID && s3->endpoint.base);
    return zb__s3_set_region(s3, region ? region : "us-east-1", err);
}

/* Without credentials being asked for, files of other users' making are not read. */
static enum zb_code find_settings(zb__s3 *s3, const zb__options *options, zb_error *err) {
    zb__profile profile = {.id = NULL};
    enum zb_code code = zb__cred_places_read(options, &s3->places, err);
    if (!code && !(options->anon == ZB__YES && !options->profile))
        code = zb__profile_read(s3->places.credentials_file, s3->places.config_file,
                                s3->places.profile, &profile, err);
    if (!code)
        code = configure(s3, options, &profile, err);
    zb__profile_clear(&profile);
    return code;
}

enum zb_code zb__s3_open(const char *name, const zb_store_settings *settings, zb__remote *store,
                         char **label, zb_error *err) {
    zb__options options = {.region = NULL};
    zb__s3 *s3 = zb__s3_new();
    if (!s3)
        return no_memory(err);
    store->protocol = &protocol;
    store->state = s3;
    enum zb_code code = zb__bucket_name_parse(name, "s3://", &s3->name, err);
    if (!code)
        code = zb__options_read(s3->name.options, settings, &options, err);
    if (!code)
        code = find_settings(s3, &options, err);
    if (!code && !(*label = strdup(s3->name.label)))
        code = no_memory(err);
    zb__remote_take_options(store, &options);
    return code;
}

/* SPDX-License-Identifier: MIT */
/* Where stores are: names of them, what is said beside a name, and how safe what is written is. */
#ifndef ZARRBRIDGE_LOCATION_H
#define ZARRBRIDGE_LOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a front end says of a store on the network beside its name. Each may be NULL: nothing is
   said. The name's own options count before these, and these before the environment. They are read
   by the call that gets them, and need not stay. */
typedef struct zb_store_settings {
    const char *options; /* as those behind the '#' of a name: "name=value&name=value" */
    const char *headers; /* "Name: value" a line, for the host of an http store and no other */
    /* Credentials for S3, or Azure's account, key and SAS. They stay so: where they expire, give
       none but a profile with a credential_process in `options`, which is run anew before. */
    const char *key_id, *secret_key, *session_token;
} zb_store_settings;

/* The moment from which written data are safe from a loss of power. */
enum zb_sync {
    ZB_SYNC_NONE,  /* when the operating system sees fit */
    ZB_SYNC_CLOSE, /* when zb_writer_flush, zb_writer_close or zb_hierarchy_flush has returned */
    ZB_SYNC_ALWAYS /* when the call that writes it returns; each object before it replaces the old
                      one */
};

/* True if the name is a URL of a scheme that zb_hierarchy_open knows: https://, http://, s3://,
   az://. */
ZB_API bool zb_name_is_url(const char *name);

/* May the program write into the directory of a store or node? ZB_EIO where its rights, or a file
   system that is there for reading alone, say no; ZB_ENOTFOUND. Nothing is known of URLs before. */
ZB_API enum zb_code zb_path_may_write(const char *path, zb_error *err);

/* Is a path or URL of this length named as zip archives with a store are: *.zip, or *.ozx (OME's
   RFC 9)? */
ZB_API bool zb_name_is_archive(const char *name, size_t length);

/* Is the path that of a file that begins as a zip archive does? Or of one that ends so and is named
   like one, with something in front of the archive? */
ZB_API bool zb_path_is_zip(const char *path);

/* Does zb_hierarchy_create make a zip archive for the path: is it named like one, and leads to no
   directory? */
ZB_API bool zb_path_becomes_zip(const char *path);

#ifdef __cplusplus
}
#endif
#endif

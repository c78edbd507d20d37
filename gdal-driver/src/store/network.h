/* SPDX-License-Identifier: MIT */
/*
 * Names of stores on the network. A URL (https://, s3://, az://) is read by the core's own
 * requests, a virtual path (/vsicurl/, /vsis3/) by GDAL's, unless the configuration option
 * ZARR3_REMOTE says `own` or `vsi` for both.
 */
#ifndef ZARR3_NETWORK_H
#define ZARR3_NETWORK_H

#include <string>

#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* True for a name that is a URL, whoever reads it. */
bool is_url(const std::string &name);

/* True for a store on a web server, which lists nothing: consolidated metadata has all names. */
bool is_on_web(const std::string &root);

/* True for a store in which each request costs a round trip. */
bool is_distant(const zb_hierarchy *hierarchy);

/* True for a store with a place beside it, for sidecar files. On a server there is none: each would
   cost requests when a dataset is opened. With GDAL_PAM_PROXY_DIR GDAL keeps those of its virtual
   paths in a local directory, so that they have a place. */
bool has_place_beside(const std::string &root);

/* True if a part of the name of something on the network is named as stores are: no directory above
   that part is looked at. */
bool names_store(const std::string &name);

/* The name that opens the store of that root: a path, a URL or a virtual path. */
enum zb_code store_address(const std::string &root, std::string *address, zb_error *err);

/* A URL without its query; any other name as it is. */
std::string without_secrets(const std::string &name);

/* The name that an array goes by which is a store by itself: the multidimensional view lists it
   so. */
std::string name_of_root(const std::string &root);

} // namespace zarr3

#endif

/* SPDX-License-Identifier: MIT */
#include "store/network.h"

#include <cstdlib>
#include <new>

#include "base/handles.h"
#include "cpl_conv.h"
#include "cpl_string.h"
#include "cpl_vsi.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/sys/store.h"

namespace zarr3 {

namespace {

constexpr char kWeb[] = "/vsicurl/", kS3[] = "/vsis3/", kS3Scheme[] = "s3://", kAzure[] = "/vsiaz/",
               kAzureScheme[] = "az://";

bool begins(const std::string &name, const char *prefix) {
    return STARTS_WITH(name.c_str(), prefix);
}

std::string behind(const std::string &name, const char *prefix) {
    return name.substr(strlen(prefix));
}

/* The URL of a virtual path; the path itself where the core has no requests for its system. */
std::string to_url(const std::string &path) {
    if (begins(path, kWeb) && is_url(behind(path, kWeb)))
        return behind(path, kWeb);
    if (begins(path, kAzure))
        return kAzureScheme + behind(path, kAzure);
    return begins(path, kS3) ? kS3Scheme + behind(path, kS3) : path;
}

/* GDAL puts the key behind all of the name, so that there is no place for a query. */
enum zb_code to_virtual(const std::string &url, std::string *path, zb_error *err) {
    if (url.find_first_of("?#") != std::string::npos)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s: with ZARR3_REMOTE=vsi a URL has neither query nor options",
                       without_secrets(url).c_str());
    *path = begins(url, kS3Scheme)      ? kS3 + behind(url, kS3Scheme)
            : begins(url, kAzureScheme) ? kAzure + behind(url, kAzureScheme)
                                        : kWeb + url;
    return ZB_OK;
}

} // namespace

bool is_url(const std::string &name) {
    return zb_name_is_url(name.c_str());
}

bool is_on_web(const std::string &root) {
    std::string address;
    return begins(root, kWeb) ||
           (store_address(root, &address, nullptr) == ZB_OK && is_url(address) &&
            !begins(address, kS3Scheme) && !begins(address, kAzureScheme));
}

bool is_distant(const zb_hierarchy *hierarchy) {
    return !zb_hierarchy_is_local(hierarchy);
}

bool has_place_beside(const std::string &root) {
    return !is_url(root) && (VSIIsLocal(root.c_str()) ||
                             CPLGetConfigOption("GDAL_PAM_PROXY_DIR", nullptr) != nullptr);
}

/* A virtual path is read as if its system were a host. */
bool names_store(const std::string &name) {
    if (is_url(name))
        return zb_url_is_zarr(name.c_str());
    return begins(name, "/vsi") && !VSIIsLocal(name.c_str()) &&
           zb_url_is_zarr(("https:/" + name).c_str());
}

enum zb_code store_address(const std::string &root, std::string *address, zb_error *err) {
    const char *choice = CPLGetConfigOption("ZARR3_REMOTE", "");
    *address = root;
    if (*choice != '\0' && !EQUAL(choice, "own") && !EQUAL(choice, "vsi"))
        return zb_fail(err, ZB_EINVAL, "ZARR3_REMOTE is '%s', expected own or vsi", choice);
    if (EQUAL(choice, "own"))
        *address = to_url(root);
    return EQUAL(choice, "vsi") && is_url(root) ? to_virtual(root, address, err) : ZB_OK;
}

std::string without_secrets(const std::string &name) {
    const CoreText text(zb_name_without_secrets(name.c_str()));
    if (text == nullptr)
        throw std::bad_alloc();
    return text.get();
}

std::string name_of_root(const std::string &root) {
    const CoreText name(zb_name_of_root(root.c_str()));
    if (name == nullptr)
        throw std::bad_alloc();
    return name.get();
}

} // namespace zarr3

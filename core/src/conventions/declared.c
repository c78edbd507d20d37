/* SPDX-License-Identifier: MIT */
/*
 * The Zarr conventions framework: a convention is known by its UUID, else by the address of its
 * schema or specification; its name means nothing. A hierarchy may declare its conventions once, at
 * the root or at a group between, so that the groups above a node count, too. What is declared is
 * only that attributes of these names have the convention's meaning; which nodes inherit the
 * attributes themselves is for each convention to say.
 */
#include <stdlib.h>
#include <string.h>

#include "conventions/pyramids.h"
#include "hierarchy/path.h"
#include "zarrbridge/gdal_extension.h"

/* The entry that declares revision v0.1, member by member: its schema takes no other addresses. */
#define ENTRY(id, repository, about)                                                               \
    "{\"uuid\":\"" id                                                                              \
    "\",\"schema_url\":\"https://raw.githubusercontent.com/zarr-conventions/" repository           \
    "/refs/tags/v0.1/schema.json\",\"spec_url\":\"https://github.com/zarr-conventions/" repository \
    "/blob/v0.1/README.md\",\"name\":\"" repository "\",\"description\":\"" about "\"}"

#define PROJ "f17cb550-5864-4468-aeb7-f3180cfb622f"
#define SPATIAL "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"
#define MULTISCALES "d35379db-88df-4056-af3a-620245f8e347"

/* plain, early: the repository of the specification; older ones have "geo-" before it. */
static const struct {
    const char *uuid, *plain, *early, *entry;
} conventions[] = {
    {PROJ, "/proj/", "/geo-proj/",
     ENTRY(PROJ, "proj", "Coordinate reference system information for geospatial data")},
    {SPATIAL, "/spatial/", "/geo-spatial/",
     ENTRY(SPATIAL, "spatial", "Spatial coordinate information")},
    {MULTISCALES, "/multiscales/", "/geo-multiscales/",
     ENTRY(MULTISCALES, "multiscales", "Multiscale layout of zarr datasets")},
};

const char *zb_convention_uuid(enum zb_convention convention) {
    return conventions[convention].uuid;
}

const char *zb_convention_entry(enum zb_convention convention) {
    return conventions[convention].entry;
}

bool zb_group_repeats_place(const zb_node *group) {
    return group && !zb_node_array(group) && zb_gdal_flag(group, ZB_GDAL_REPEATS_PLACE, false);
}

/* "https://.../zarr-conventions/proj/..." */
static bool address_names(const zb_json *entry, const char *member, enum zb_convention convention) {
    const char *address = zb_json_string(zb_json_get(entry, member));
    return address && strstr(address, "zarr-") &&
           (strstr(address, conventions[convention].plain) ||
            strstr(address, conventions[convention].early));
}

/* True if what the node says by the convention is meant for no other one. */
static bool only_repeats(const zb_node *node, enum zb_convention convention) {
    return convention != ZB_CONVENTION_MULTISCALES && zb_group_repeats_place(node);
}

static bool declares(const zb_node *node, enum zb_convention convention) {
    const zb_json *list = zb__attribute(node, "zarr_conventions");
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || only_repeats(node, convention))
        return false;
    for (const zb_json *entry = zb_json_first(list); entry; entry = zb_json_next(entry)) {
        const char *id = zb_json_string(zb_json_get(entry, "uuid"));
        if (id ? strcmp(id, conventions[convention].uuid) == 0
               : address_names(entry, "schema_url", convention) ||
                     address_names(entry, "spec_url", convention))
            return true;
    }
    return false;
}

bool zb_convention_holds(const zb_node *node, enum zb_convention convention,
                         const zb_nodes *nodes) {
    if (!node || only_repeats(node, convention))
        return false;
    bool holds = declares(node, convention);
    char *path = strdup(zb_node_path(node));
    while (path && *path && !holds) {
        zb__path_up(path);
        holds = declares(nodes->at(nodes->context, path), convention);
    }
    free(path);
    return holds;
}

/* SPDX-License-Identifier: MIT */
/* Prints the sum of an array of numbers in a store: consumer STORE ARRAY. */
#include <stdio.h>
#include <stdlib.h>

#include <zarrbridge/zarrbridge.h>

/* The library converts the elements, whatever type the store has, to doubles. */
static enum zb_code add_up(const zb_node *node, double *sum, zb_error *err) {
    const zb_array_info *info = zb_node_array(node);
    size_t count = 1;
    if (!info)
        return zb_fail(err, ZB_EINVAL, "a group has no sum; give the path of an array");
    for (uint32_t d = 0; d < info->ndim; d++)
        count *= (size_t)info->shape[d];
    double *values = calloc(count, sizeof *values);
    if (!values && count > 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for %zu elements", count);
    zb_read read = {.node = node,
                    .view = {.data = values, .dtype = {ZB_KIND_FLOAT, sizeof *values}}};
    enum zb_code code = zb_array_read(&read, 1, err);
    for (size_t i = 0; !code && i < count; i++)
        *sum += values[i];
    free(values);
    return code;
}

int main(int argc, char **argv) {
    zb_error err = {.message = ""};
    zb_hierarchy *hierarchy = NULL;
    zb_node *node = NULL;
    double sum = 0;
    if (argc != 3)
        return 2;
    enum zb_code code = zb_hierarchy_open(argv[1], &hierarchy, &err);
    if (code == ZB_OK)
        code = zb_node_open(hierarchy, argv[2], &node, &err);
    if (code == ZB_OK)
        code = add_up(node, &sum, &err);
    if (code == ZB_OK)
        printf("%g\n", sum);
    else
        fprintf(stderr, "%s\n", err.message);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    return code == ZB_OK ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Prints the sum of an array of a store: consumer STORE ARRAY. */
#include <stdio.h>
#include <stdlib.h>

#include <zarrbridge/zarrbridge.h>

int main(int argc, char **argv) {
    zb_error err = {.message = ""};
    zb_store *store = NULL;
    zb_node *node = NULL;
    double *values = NULL, sum = 0;
    if (argc != 3)
        return 2;
    enum zb_code code = zb_store_open_fs(argv[1], &store, &err);
    if (code == ZB_OK)
        code = zb_node_open(store, argv[2], &node, &err);
    if (code == ZB_OK) {
        const zb_array_info *info = zb_node_array(node);
        size_t count = 1;
        for (uint32_t d = 0; d < info->ndim; d++)
            count *= (size_t)info->shape[d];
        values = calloc(count, sizeof *values);
        zb_read read = {.node = node, .view = {.data = values, .dtype = info->dtype}};
        code = zb_array_read(&read, 1, &err);
        for (size_t i = 0; i < count; i++)
            sum += values[i];
    }
    if (code == ZB_OK)
        printf("%g\n", sum);
    else
        fprintf(stderr, "%s\n", err.message);
    free(values);
    zb_node_release(node);
    zb_store_release(store);
    return code == ZB_OK ? 0 : 1;
}

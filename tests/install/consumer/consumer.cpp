/* SPDX-License-Identifier: MIT */
/* Opens a store by the C++ compiler's reading of the headers: consumer-cpp STORE. */
#include <cstdio>

#include <zarrbridge/write.h>
#include <zarrbridge/zarrbridge.h>

int main(int argc, char **argv) {
    zb_error err;
    zb_hierarchy *hierarchy = nullptr;
    if (argc != 2 || zb_hierarchy_open(argv[1], &hierarchy, &err) != ZB_OK)
        return 1;
    zb_hierarchy_release(hierarchy);
    std::puts("opened");
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Opens a store by the C++ compiler's reading of the headers: consumer-cpp STORE. */
#include <cstdio>

#include <zarrbridge/write.h>
#include <zarrbridge/zarrbridge.h>

int main(int argc, char **argv) {
    zb_error err;
    zb_store *store = nullptr;
    if (argc != 2 || zb_store_open_fs(argv[1], &store, &err) != ZB_OK)
        return 1;
    zb_store_release(store);
    std::puts("opened");
    return 0;
}

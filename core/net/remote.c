/* SPDX-License-Identifier: MIT */
#include "remote.h"

#include <stdlib.h>

void zb__remote_take_options(zb__remote *remote, zb__options *options) {
    remote->missing_403 = options->missing_403 == ZB__YES;
    remote->ca_file = options->ca_file;
    remote->proxy = options->proxy;
    options->ca_file = options->proxy = NULL;
    zb__options_clear(options);
}

void zb__remote_free(zb__remote *remote) {
    if (remote->protocol)
        remote->protocol->destroy(remote);
    free(remote->ca_file);
    free(remote->proxy);
    free(remote);
}

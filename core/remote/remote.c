/* SPDX-License-Identifier: MIT */
#include "remote.h"

#include <stdlib.h>

void zb__remote_configure(zb__remote *remote, zb__options *options) {
    remote->missing_403 = options->missing_403 == ZB__YES;
    remote->ca_file = options->ca_file;
    remote->proxy = options->proxy;
    options->ca_file = options->proxy = NULL;
}

void zb__remote_free(zb__remote *remote) {
    free(remote->ca_file);
    free(remote->proxy);
    free(remote);
}

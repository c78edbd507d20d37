/* SPDX-License-Identifier: MIT */
/*
 * GDAL's configuration as settings of stores on the network that the core reads: what its users
 * know from /vsicurl/ and /vsis3/, where it means the same. docs/remote.md has the table.
 */
#ifndef ZARR3_NETWORK_SETTINGS_H
#define ZARR3_NETWORK_SETTINGS_H

#include <string>

#include "zarrbridge/location.h"

namespace zarr3 {

class NetworkSettings {
  public:
    /* Of the store with that URL: options of its path (VSISetPathSpecificOption) count first. */
    explicit NetworkSettings(const std::string &url);

    /* Valid as long as this object. */
    zb_store_settings view() const;

  private:
    std::string options, headers, key_id, secret_key, session_token;
};

} // namespace zarr3

#endif

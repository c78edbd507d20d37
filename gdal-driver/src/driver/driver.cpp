/* SPDX-License-Identifier: MIT */
/* Registration. */
#include <memory>

#include "base/compat.h"
#include "base/entry.h"
#include "dataset/gdal_deletions.h"
#include "driver/description.h"
#include "driver/take_over.h"
#include "driver/whole_stores.h"

namespace {

class Zarr3Driver final : public GDALDriver {
  public:
    DeleteCallback GetDeleteCallback() override {
        zarr3::note_asked_to_delete();
        return zarr3::entry<zarr3::delete_dataset>;
    }
};

} // namespace

/* GDAL derives this name from that of the file and calls it once after loading; a program may call
   it again. */
extern "C" CPL_DLL void GDALRegister_Zarr3();

extern "C" void GDALRegister_Zarr3() {
    if (!GDAL_CHECK_VERSION("Zarr3") || GDALGetDriverByName("Zarr3") != nullptr)
        return;
    auto driver = std::make_unique<Zarr3Driver>();
    const bool is_second = zarr3::take_over(); /* one driver for a suffix */
    zarr3::describe_driver(driver.get(), "Zarr3", !is_second);
    GetGDALDriverManager()->RegisterDriver(driver.release());
}

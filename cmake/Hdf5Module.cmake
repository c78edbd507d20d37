# Sets ZARRBRIDGE_HDF5, the name by which pkg-config knows the HDF5 to build with: "hdf5", or "hdf5-serial" where that
# is there and the other is the flavour for MPI. Its headers want those of MPI, and h5py and the tools, which load the
# connector, use the serial one.
find_package(PkgConfig REQUIRED)
set(ZARRBRIDGE_HDF5 hdf5)
pkg_check_modules(ZARRBRIDGE_PLAIN_HDF5 QUIET hdf5)
pkg_check_modules(ZARRBRIDGE_SERIAL_HDF5 QUIET hdf5-serial)
if(ZARRBRIDGE_SERIAL_HDF5_FOUND)
    find_file(ZARRBRIDGE_HDF5_CONFIGURATION H5pubconf.h PATHS ${ZARRBRIDGE_PLAIN_HDF5_INCLUDE_DIRS}
        NO_DEFAULT_PATH NO_CACHE)
    if(ZARRBRIDGE_HDF5_CONFIGURATION)
        file(STRINGS ${ZARRBRIDGE_HDF5_CONFIGURATION} parallel REGEX "^#define H5_HAVE_PARALLEL ")
    endif()
    if(parallel OR NOT ZARRBRIDGE_PLAIN_HDF5_FOUND)
        set(ZARRBRIDGE_HDF5 hdf5-serial)
    endif()
endif()

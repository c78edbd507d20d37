# What `tools/install-deps --build` has unpacked is looked for last: behind pkg-config's own places.
file(GLOB unpacked ${PROJECT_SOURCE_DIR}/build/unpacked/usr/lib/*/pkgconfig)
if(unpacked)
    find_package(PkgConfig REQUIRED)
    set(places "$ENV{PKG_CONFIG_LIBDIR}")
    if(NOT places)
        execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --variable=pc_path pkg-config
            OUTPUT_VARIABLE places OUTPUT_STRIP_TRAILING_WHITESPACE)
    endif()
    string(REPLACE ";" ":" unpacked "${unpacked}")
    set(ENV{PKG_CONFIG_LIBDIR} "${places}:${unpacked}")
endif()

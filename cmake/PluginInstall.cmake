# Where the plugins are installed. The prefix is known only at that moment (`cmake --install --prefix`), so the
# installation decides:
#
#   system   in the folder that HDF5, or GDAL, looks in by itself
#   prefix   in lib/zarrbridge/hdf5 and lib/zarrbridge/gdal below the prefix; the installation prints the
#            variable that lets programs find them
#   auto     system below /usr and /usr/local, prefix elsewhere
#
#   zarrbridge_install_plugin(TARGET COMPONENT SYSTEM_FOLDER LIBRARY VARIABLE)
#       LIBRARY is hdf5 or gdal, VARIABLE what names folders of plugins to it. An empty SYSTEM_FOLDER: its own
#       folder is not known, and only `prefix` can be had
set(ZARRBRIDGE_INSTALL_PLUGINS auto CACHE STRING "Where plugins go: system, prefix, or auto")
set_property(CACHE ZARRBRIDGE_INSTALL_PLUGINS PROPERTY STRINGS auto system prefix)
if(NOT ZARRBRIDGE_INSTALL_PLUGINS MATCHES "^(auto|system|prefix)$")
    message(FATAL_ERROR "ZARRBRIDGE_INSTALL_PLUGINS is ${ZARRBRIDGE_INSTALL_PLUGINS}; it can be auto, system or prefix")
endif()

set(ZARRBRIDGE_PLACE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/PluginPlace.cmake.in)
function(zarrbridge_install_plugin target component system_folder library variable)
    if(NOT system_folder AND ZARRBRIDGE_INSTALL_PLUGINS STREQUAL "system")
        message(FATAL_ERROR "The folder in which ${library} looks for plugins is not known; "
            "ZARRBRIDGE_INSTALL_PLUGINS=prefix does without it")
    endif()
    set(place ${CMAKE_CURRENT_BINARY_DIR}/plugin_place.cmake)
    configure_file(${ZARRBRIDGE_PLACE_SCRIPT} ${place} @ONLY)
    install(SCRIPT ${place} COMPONENT ${component})
    # The script sets the variable, whose value lacks the first slash: CMake would put the prefix before a path
    # that does not begin with one.
    install(TARGETS ${target}
        LIBRARY DESTINATION "/\${zarrbridge_plugin_folder}" COMPONENT ${component})
    install(CODE "message(STATUS \"\${zarrbridge_plugin_hint}\")" COMPONENT ${component})
endfunction()

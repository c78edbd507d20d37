# Packages by CPack: an archive that is unpacked anywhere, and RPMs, one for each component. tools/package tgz and
# tools/package rpm make them. Debian's own are in packaging/deb.
set(CPACK_PACKAGE_VENDOR "The zarrbridge authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL core hdf5-vol gdal-driver doc)
# The archive has all in one folder.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_MAIN_COMPONENT core)
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
# Folders that belong to the system or to HDF5 and GDAL.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib /usr/share/doc /usr/lib/cmake /usr/lib/pkgconfig /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/man /usr/share/man/man1)
if(CMAKE_LIBRARY_ARCHITECTURE)
    foreach(folder "" /gdalplugins /hdf5 /hdf5/serial /hdf5/serial/plugins /cmake /pkgconfig)
        list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}${folder})
    endforeach()
endif()
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_prefix.cmake)
include(CPack)

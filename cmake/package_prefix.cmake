# Read by CPack for each kind of package: RPMs put plugins into folders of the system, which only DESTDIR allows.
if(CPACK_GENERATOR STREQUAL "RPM")
    set(CPACK_SET_DESTDIR ON)
    set(CPACK_INSTALL_PREFIX /usr)
endif()

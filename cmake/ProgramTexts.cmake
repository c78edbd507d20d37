# Man pages and completion of the program, which prints them itself, and where they are installed. A
# build for another machine has them only where it can run its programs (CMAKE_CROSSCOMPILING_EMULATOR).

if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "Built for another machine: man pages and completion are left out")
    return()
endif()
# Debian's own packages put theirs into share/zsh/vendor-completions.
set(ZARRBRIDGE_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh looks for completion")
set(texts ${CMAKE_CURRENT_BINARY_DIR}/texts)
add_custom_command(TARGET zarrbridge_program POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DPROGRAM=${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:zarrbridge_program>"
        -DFOLDER=${texts} -P ${CMAKE_CURRENT_LIST_DIR}/print_texts.cmake
    COMMENT "Printing man pages and completion" VERBATIM)
install(DIRECTORY ${texts}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${texts}/bash RENAME zarrbridge
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${texts}/zsh RENAME _zarrbridge DESTINATION ${ZARRBRIDGE_ZSH_FOLDER})
install(FILES ${texts}/fish RENAME zarrbridge.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

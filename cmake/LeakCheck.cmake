# The address sanitizer looks for leaks at exit with a second process that traces the program. Some
# containers forbid tracing, and then every program fails, leak or not. This file tries it once.
#
#   zarrbridge_check_leaks(TEST...)   switches the search off in these CTest entries where it cannot
#                                     work; a line of CMake's output says so

set(ZARRBRIDGE_LEAK_CHECK ON)
if(ZARRBRIDGE_SANITIZE MATCHES address)
    include(CheckCSourceRuns)
    set(CMAKE_REQUIRED_FLAGS -fsanitize=address)
    check_c_source_runs("int main(void) { return 0; }" ZARRBRIDGE_LEAK_CHECK_WORKS)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT ZARRBRIDGE_LEAK_CHECK_WORKS)
        message(STATUS "Processes cannot be traced here: the tests do not look for leaks")
        set(ZARRBRIDGE_LEAK_CHECK OFF)
    endif()
endif()

function(zarrbridge_check_leaks)
    if(NOT ZARRBRIDGE_LEAK_CHECK)
        set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endif()
endfunction()

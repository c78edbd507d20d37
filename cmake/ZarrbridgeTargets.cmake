# The compiler's and linker's options of every target.

add_library(zarrbridge_flags INTERFACE)
target_compile_options(zarrbridge_flags INTERFACE
    -Wall -Wextra -Wshadow -Wvla -Wundef -Wconversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
if(ZARRBRIDGE_SANITIZE)
    target_compile_options(zarrbridge_flags INTERFACE
        -fsanitize=${ZARRBRIDGE_SANITIZE} -fno-omit-frame-pointer
        # With -O1 GCC does not know how small numbers are.
        $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
    if(NOT ZARRBRIDGE_SANITIZE STREQUAL "thread")
        target_compile_options(zarrbridge_flags INTERFACE -fno-sanitize-recover=all)
    endif()
    target_link_options(zarrbridge_flags INTERFACE -fsanitize=${ZARRBRIDGE_SANITIZE})
endif()
if(ZARRBRIDGE_COVERAGE)
    target_compile_options(zarrbridge_flags INTERFACE --coverage)
    target_link_options(zarrbridge_flags INTERFACE --coverage)
endif()

# Sets C17 or C++17, the project's warnings and hidden visibility.
function(zarrbridge_configure_target target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS ON
        CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:zarrbridge_flags>)
endfunction()

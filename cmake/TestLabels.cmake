# The labels of CTest entries, for `ctest -L`: of which kind they are (core, hdf5, gdal, network, fault, dist, interop,
# fuzz, project), and besides `pytest` for those in Python, `threads` for those that the thread sanitizer looks at, and
# `long` for those that only `tools/test --all` runs.
#
#   zarrbridge_label_tests(LABEL)    adds it to all entries that this folder has so far

function(zarrbridge_label_tests label)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test IN LISTS tests)
        set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
    endforeach()
endfunction()

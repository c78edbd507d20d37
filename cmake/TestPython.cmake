# Finds, once, the Python that has h5py, osgeo, zarr and pytest, by the same rule as tools/demo and
# tools/test (tools/lib.sh): never simply the `python3` that is first on PATH.
#
#   ZARRBRIDGE_PYTHON            cache variable, its path; set it to use another one. Empty where there
#       is none: a build then has the tests in C, and one entry that is skipped and says why
#   zarrbridge_add_pytest(NAME FILE [LONG] [PEERS] [ENVIRONMENT VAR=VALUE ...] [ARGS ...] [COST s])
#       adds the CTest entry NAME, which runs one pytest file with the built plugins on the search
#       paths of HDF5 and GDAL; nothing without that Python. LONG: only `tools/test --all` runs it. PEERS: in
#       the newest zarr-python, which is installed at its first use. COST: CTest begins with the dearest entries,
#       which would else be the last ones to run, alone. What a test that passes leaves in its
#       tmp_path is removed at once, what one that fails leaves at the next run of the entry

if(NOT ZARRBRIDGE_PYTHON)
    execute_process(
        COMMAND bash -c ". tools/lib.sh && find_python"
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE found
        ERROR_VARIABLE reason
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_STRIP_TRAILING_WHITESPACE
        RESULT_VARIABLE status)
    if(status EQUAL 0)
        set(ZARRBRIDGE_PYTHON ${found} CACHE FILEPATH "Python with h5py, osgeo, zarr and pytest")
    else()
        set(ZARRBRIDGE_NO_PYTHON "${reason}")
    endif()
endif()
if(NOT ZARRBRIDGE_PYTHON)
    function(zarrbridge_add_pytest)
    endfunction()
    return()
endif()
message(STATUS "Python for the tests: ${ZARRBRIDGE_PYTHON}")

# The environment of tests that open stores with h5py in their own process. HDF5 1.14 finds the
# connector by its plugin search; on 2.x the connector stays out of that search.
if(NOT DEFINED ZARRBRIDGE_TEST_FIND_CONNECTOR)
    execute_process(
        COMMAND ${ZARRBRIDGE_PYTHON} -c "import h5py; print(h5py.version.hdf5_version)"
        OUTPUT_VARIABLE ZARRBRIDGE_TEST_HDF5_VERSION
        OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    set(ZARRBRIDGE_TEST_FIND_CONNECTOR "")
    if(ZARRBRIDGE_TEST_HDF5_VERSION VERSION_GREATER_EQUAL 2)
        set(ZARRBRIDGE_TEST_FIND_CONNECTOR HDF5_VOL_CONNECTOR=zarr)
    endif()
endif()

# A program that was built without the sanitizers (Python, h5dump) can load a plugin that was built
# with them only when their runtime is loaded first. Leaks are then Python's own, so they are not
# looked for.
set(ZARRBRIDGE_TEST_ENVIRONMENT
    PYTHONDONTWRITEBYTECODE=1
    PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support # for the child processes of tests, too
    HDF5_PLUGIN_PATH=${PROJECT_BINARY_DIR}/hdf5-vol/plugins
    GDAL_DRIVER_PATH=${PROJECT_BINARY_DIR}/gdal-driver/plugins
    ZARRBRIDGE_BUILD_DIR=${PROJECT_BINARY_DIR}
    ZARRBRIDGE_SOURCE_DIR=${PROJECT_SOURCE_DIR})
if(ZARRBRIDGE_BUILD_CORE)
    list(APPEND ZARRBRIDGE_TEST_ENVIRONMENT ZARRBRIDGE_PROGRAM=$<TARGET_FILE:zarrbridge_program>)
else()
    list(APPEND ZARRBRIDGE_TEST_ENVIRONMENT ZARRBRIDGE_PROGRAM=zarrbridge) # the installed one, on PATH
endif()
set(ZARRBRIDGE_TEST_PRELOAD "")
if(ZARRBRIDGE_SANITIZE)
    set(runtimes "")
    if(ZARRBRIDGE_SANITIZE MATCHES address)
        list(APPEND runtimes libasan.so)
    endif()
    if(ZARRBRIDGE_SANITIZE MATCHES undefined)
        list(APPEND runtimes libubsan.so)
    endif()
    if(ZARRBRIDGE_SANITIZE MATCHES thread)
        list(APPEND runtimes libtsan.so)
    endif()
    foreach(runtime IN LISTS runtimes)
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime}
                        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
        list(APPEND ZARRBRIDGE_TEST_PRELOAD ${path})
    endforeach()
    list(JOIN ZARRBRIDGE_TEST_PRELOAD ":" ZARRBRIDGE_TEST_PRELOAD)
    list(APPEND ZARRBRIDGE_TEST_ENVIRONMENT
         LD_PRELOAD=${ZARRBRIDGE_TEST_PRELOAD}
         ASAN_OPTIONS=detect_leaks=0
         TSAN_OPTIONS=die_after_fork=0 # children of programs with threads start threads, too
         UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1)
endif()

set(ZARRBRIDGE_RUN_PYTEST ${CMAKE_CURRENT_LIST_DIR}/run_pytest.py)
function(zarrbridge_add_pytest name file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "LONG;PEERS" "COST" "ENVIRONMENT;ARGS")
    if(arg_PEERS)
        list(APPEND arg_ENVIRONMENT ZARRBRIDGE_TEST_PEERS=1)
    endif()
    set(labels pytest)
    if(arg_LONG)
        list(APPEND labels long)
    endif()
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    add_test(NAME ${name}
             COMMAND ${ZARRBRIDGE_PYTHON} ${ZARRBRIDGE_RUN_PYTEST} -q -ra -p no:cacheprovider
                     -o faulthandler_timeout=900 ${file} ${arg_ARGS})
    set_tests_properties(${name} PROPERTIES
                         ENVIRONMENT
                         "${ZARRBRIDGE_TEST_ENVIRONMENT};ZARRBRIDGE_TEST=${name};${arg_ENVIRONMENT}"
                         TIMEOUT 7200 # ends what hangs; slow machines under sanitizers take their time
                         # every test of the file was skipped, for reasons that are in the output
                         SKIP_RETURN_CODE 77
                         LABELS "${labels}")
    if(arg_COST)
        set_tests_properties(${name} PROPERTIES COST ${arg_COST})
    endif()
endfunction()

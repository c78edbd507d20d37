# cmake -DPROGRAM=... -DFOLDER=... -P: writes what the program says of itself.

function(print name)
    execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${FOLDER}/${name} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1)
execute_process(COMMAND ${PROGRAM} help --names OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" names "${names}")
print(man1/zarrbridge.1 help --man)
foreach(name ${names})
    print(man1/zarrbridge-${name}.1 help --man ${name})
endforeach()
foreach(shell bash zsh fish)
    print(${shell} completion ${shell})
endforeach()

# Files as bytes in a C file: a script for one run, and the function that has it run when a file
# changes.
if(CMAKE_SCRIPT_MODE_FILE)
    # cmake -DFOLDER=... -DOUTPUT=... -P WritEmbed.cmake
    file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.svg)
    list(SORT names)
    set(bytes)
    set(rows)
    set(n 0)
    foreach(name IN LISTS names)
        file(READ ${FOLDER}/${name} hex HEX)
        string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND bytes "static const unsigned char file_${n}[] = {\n${hex}};\n")
        string(APPEND rows "    {WRIT_LIT(\"${name}\"), {(const char *)file_${n}, sizeof file_${n}}},\n")
        math(EXPR n "${n} + 1")
    endforeach()
    file(WRITE ${OUTPUT} "#include \"gateway/page.h\"\n\n${bytes}
const struct writ_page_file writ_page_files[] = {\n${rows}};
const size_t writ_page_files_n = ${n};\n")
    return()
endif()
include_guard()
set(writ_embed_script ${CMAKE_CURRENT_LIST_FILE})

# writ_embed(target folder) - the files of the folder are in the library.
function(writ_embed target folder)
    if(NOT IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
        return() # nothing to put in: what cannot be built yet is left out
    endif()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/page_files.c)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/${folder} -DOUTPUT=${output}
            -P ${writ_embed_script}
        DEPENDS ${files} ${writ_embed_script} VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

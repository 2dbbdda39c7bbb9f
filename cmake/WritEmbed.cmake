# Files of the repository as bytes in the program. CMake runs again when one changes.
include_guard()

# writ_bytes(file ret) - the file as the elements of an array of C.
function(writ_bytes file ret)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    set(${ret} "${bytes}" PARENT_SCOPE)
endfunction()

# writ_embed_page(target folder NAME FILE) - the files of the folder, and FILE under that name, as the table in
# gateway/admin/page.h.
function(writ_embed_page target folder other other_file)
    set(from ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    file(GLOB names CONFIGURE_DEPENDS RELATIVE ${from}
        ${from}/*.html ${from}/*.css ${from}/*.js ${from}/*.svg)
    if(NOT TARGET ${target} OR NOT names)
        return() # nothing to embed yet
    endif()
    list(APPEND names ${other})
    list(SORT names)
    set(n 0)
    foreach(name IN LISTS names)
        set(file ${from}/${name})
        if(name STREQUAL other)
            set(file ${CMAKE_CURRENT_SOURCE_DIR}/${other_file})
        endif()
        writ_bytes(${file} bytes)
        string(APPEND arrays "static const char file_${n}[] = {\n${bytes}};\n")
        string(APPEND rows "    {WRIT_LIT(\"${name}\"), {file_${n}, sizeof file_${n}}},\n")
        math(EXPR n "${n} + 1")
    endforeach()
    set(output ${CMAKE_CURRENT_BINARY_DIR}/page_files.c)
    file(CONFIGURE OUTPUT ${output} CONTENT "#include \"gateway/admin/page.h\"\n\n${arrays}
const struct writ_page_file writ_page_files[] = {\n${rows}};
const size_t writ_page_files_n = ${n};\n" @ONLY)
    target_sources(${target} PRIVATE ${output})
endfunction()

# writ_embed_text(target file header symbol) - the file as `const char symbol[]` and `const size_t
# symbol_len`, which the header declares.
function(writ_embed_text target file header symbol)
    set(from ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    if(NOT TARGET ${target} OR NOT EXISTS ${from})
        return()
    endif()
    writ_bytes(${from} bytes)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    file(CONFIGURE OUTPUT ${output} CONTENT "#include \"${header}\"\n
const char ${symbol}[] = {\n${bytes}};
const size_t ${symbol}_len = sizeof ${symbol};\n" @ONLY)
    target_sources(${target} PRIVATE ${output})
endfunction()

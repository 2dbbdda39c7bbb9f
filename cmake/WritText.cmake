# writ_text(target file symbol)
#
# Compiles a file of the repository into a target, as `const char symbol[]` and `const size_t
# symbol_len`; whoever uses them declares them. A change of the file configures anew.
function(writ_text target file symbol)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    if(NOT TARGET ${target} OR NOT EXISTS ${source})
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(READ ${source} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1', " bytes "${hex}")
    get_filename_component(header ${file} NAME_WE)
    file(CONFIGURE OUTPUT ${output} CONTENT
        "#include \"gateway/${header}.h\"\n\nconst char ${symbol}[] = {${bytes}};\nconst size_t ${symbol}_len = sizeof ${symbol};\n"
        @ONLY)
    target_sources(${target} PRIVATE ${output})
endfunction()

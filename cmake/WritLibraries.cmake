# The libraries of others, each under one name writ::<what>. What each is for is told in
# docs/dependencies.md; scripts/deps installs them.
include_guard()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(writ_library name module)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} is missing: run scripts/deps build")
    endif()
    add_library(writ_lib_${name} INTERFACE)
    target_link_libraries(writ_lib_${name} INTERFACE PkgConfig::${name})
    add_library(writ::${name} ALIAS writ_lib_${name})
endfunction()

writ_library(crypto "libcrypto>=3.0")
writ_library(ssl "libssl>=3.0")
writ_library(jansson "jansson>=2.14")
writ_library(sqlite "sqlite3>=3.40")
writ_library(pcre2 "libpcre2-8>=10.40")
writ_library(yaml "yaml-0.1>=0.2.5")
# exactly: gateway/framing.c reads the memory in which this version has parsed (docs/security-limits.md)
writ_library(microhttpd "libmicrohttpd=0.9.75")
writ_library(curl "libcurl>=7.88")
writ_library(gnutls "gnutls>=3.7")

# llhttp has no Debian package of its own: node-llhttp ships the C that its generator made.
find_path(WRIT_LLHTTP_C llhttp.c PATHS /usr/share/llhttp NO_DEFAULT_PATH)
find_path(WRIT_LLHTTP_H llhttp.h PATHS /usr/share/include/llhttp NO_DEFAULT_PATH)
if(NOT WRIT_LLHTTP_C OR NOT WRIT_LLHTTP_H)
    message(FATAL_ERROR "the llhttp sources (package node-llhttp) are missing: run scripts/deps build")
endif()
add_library(writ_llhttp STATIC
    ${WRIT_LLHTTP_C}/api.c ${WRIT_LLHTTP_C}/http.c ${WRIT_LLHTTP_C}/llhttp.c)
target_include_directories(writ_llhttp SYSTEM PUBLIC ${WRIT_LLHTTP_H})
target_compile_definitions(writ_llhttp PUBLIC LLHTTP_STRICT_MODE=1)
target_compile_options(writ_llhttp PRIVATE -w)
add_library(writ::llhttp ALIAS writ_llhttp)

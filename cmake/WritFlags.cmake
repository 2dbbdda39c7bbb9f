# The options of a build; the language, the warnings, the hardening and the sanitizers of every target.
# tests/lint/hardening.sh checks the hardening of the program.
include_guard()
include(CheckPIESupported)

option(WRIT_WERROR "Warnings are errors (the presets set it)" OFF)
option(WRIT_TESTS "Build the tests too (the presets for work set it)" OFF)
option(WRIT_LTO "Link-time optimization" OFF)
option(WRIT_PACKAGE "Install also what belongs into a package of a distribution" OFF)
option(WRIT_BINDINGS "Build bindings/, the libraries from JavaScript and Python (the preset dev sets it)" OFF)
set(WRIT_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined")
option(WRIT_FUZZ "Build the fuzzers with libFuzzer (clang only) in place of the other tests" OFF)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
check_pie_supported(LANGUAGES C) # executables are linked with -pie

if(WRIT_LTO)
    include(CheckIPOSupported)
    check_ipo_supported(LANGUAGES C)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
    if(WRIT_PACKAGE AND CMAKE_C_COMPILER_ID STREQUAL GNU) # its archives are linked by any compiler
        set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
    endif()
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|i.86)$")
    set(writ_branch_protection -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(writ_branch_protection -mbranch-protection=standard)
endif()

add_library(writ_flags INTERFACE)
target_compile_definitions(writ_flags INTERFACE _GNU_SOURCE WRIT_VERSION="${PROJECT_VERSION}")
target_compile_options(writ_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wswitch-enum -Wformat=2 -Wvla -Wundef -Wpointer-arith -Wwrite-strings -Wredundant-decls
    -Wnested-externs -Wimplicit-fallthrough -Wdate-time
    $<$<BOOL:${WRIT_WERROR}>:-Werror>
    -fno-semantic-interposition -fstack-protector-strong -fstack-clash-protection ${writ_branch_protection}
    -fno-common -fno-strict-overflow -fno-delete-null-pointer-checks)
target_link_options(writ_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)

if(WRIT_SANITIZE)
    target_compile_options(writ_flags INTERFACE
        -fsanitize=${WRIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(writ_flags INTERFACE -fsanitize=${WRIT_SANITIZE})
else()
    # the sanitizers replace the very functions that fortification wraps; it needs optimization
    target_compile_options(writ_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

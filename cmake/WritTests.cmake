# One line per kind of test; every file of a kind is a test. Labels: unit, fault, conformance,
# fuzz, integration, lint.
include_guard()
if(NOT WRIT_TESTS)
    return()
endif()
enable_testing()

set(WRIT_FUZZ_SECONDS 20 CACHE STRING "How long each fuzzer runs in the fuzz preset")
set(WRIT_TIMEOUT_FACTOR 1 CACHE STRING "How much longer tests may take (sanitizers are slow)")
math(EXPR test_timeout_s "600 * ${WRIT_TIMEOUT_FACTOR}")

set(test_root ${CMAKE_CURRENT_SOURCE_DIR}/tests)
set(test_environment WRIT_VECTORS=${CMAKE_CURRENT_SOURCE_DIR}/vectors
    WRIT_SOURCE_DIR=${CMAKE_CURRENT_SOURCE_DIR} WRIT_BUILD_DIR=${CMAKE_CURRENT_BINARY_DIR}
    WRIT_BIN=${CMAKE_CURRENT_BINARY_DIR}/writ CK_FORK=no)
if(WRIT_SANITIZE)
    list(APPEND test_environment WRIT_SANITIZED=1) # its memory figures mean nothing
endif()
writ_existing(test_layers ${gateway_rooms} policy_learn policy_fit policy_why policy_read policy_replay policy_propose policy_decide policy_schema policy_detect policy_model crew ${store_rooms} verify jansson ${evidence_rooms} base)

pkg_check_modules(check QUIET IMPORTED_TARGET check>=0.15)
pkg_check_modules(jwt QUIET IMPORTED_TARGET libjwt>=1.10) # the oracle of the credential tests
if(NOT check_FOUND OR NOT jwt_FOUND)
    message(FATAL_ERROR "check or libjwt is missing: run scripts/deps test, or configure without WRIT_TESTS")
endif()

# The code that tests share; tests include it as "support/<file>.h" or "support/<folder>/<file>.h".
file(GLOB support_sources CONFIGURE_DEPENDS ${test_root}/support/*.c ${test_root}/support/*/*.c)
list(REMOVE_ITEM support_sources ${test_root}/support/replay_main.c)
add_library(writ_test_support STATIC ${support_sources})
target_include_directories(writ_test_support PUBLIC ${test_root} ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(writ_test_support PUBLIC
    WRIT_VECTORS="${CMAKE_CURRENT_SOURCE_DIR}/vectors"
    WRIT_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(writ_test_support PUBLIC ${test_layers} PkgConfig::check
    writ::sqlite writ::ssl writ::crypto writ::curl writ::yaml Threads::Threads m
    PRIVATE writ::jansson writ_flags)

# Additional libraries of single tests.
set(test_uses_unit_credential PkgConfig::jwt)
set(test_uses_unit_jansson writ::jansson)
set(test_uses_unit_log writ::jansson)
set(test_uses_fault_jansson writ::jansson)
set(test_uses_fuzz_text writ::jansson)
set(test_uses_unit_log_file writ_cli_crew writ_cli_base)
foreach(module crew_log crew_worker)
    set(test_uses_fuzz_${module} writ_cli_crew writ_cli_base)
endforeach()

function(writ_test_properties name label timeout_s)
    # 77: a requirement of the test is missing; ctest shows it as skipped
    set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout_s}
        SKIP_RETURN_CODE 77
        ENVIRONMENT "${test_environment}" WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# Every test_*.c below tests/<kind> is one program, one ctest test.
function(writ_check_tests kind)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${test_root}/${kind}/test_*.c)
    list(FILTER sources EXCLUDE REGEX "/test_${WRIT_OTHER_MHD}\\.c$")
    foreach(source IN LISTS sources)
        get_filename_component(stem ${source} NAME_WE)
        string(REGEX REPLACE "^test_" "" module ${stem})
        add_executable(${kind}_${module} ${source})
        target_link_libraries(${kind}_${module} PRIVATE
            writ_flags writ_test_support ${test_uses_${kind}_${module}})
        set_target_properties(${kind}_${module} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
        add_test(NAME ${kind}.${module} COMMAND ${kind}_${module})
        writ_test_properties(${kind}.${module} ${kind} ${test_timeout_s})
    endforeach()
endfunction()

# Every tests/fuzz/fuzz_<module>.c: a fuzzer in the fuzz preset, a replay of its corpus elsewhere.
function(writ_fuzz_tests)
    file(GLOB sources CONFIGURE_DEPENDS ${test_root}/fuzz/fuzz_*.c)
    list(FILTER sources EXCLUDE REGEX "/fuzz_${WRIT_OTHER_MHD}\\.c$")
    foreach(source IN LISTS sources)
        get_filename_component(stem ${source} NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" module ${stem})
        set(corpus ${test_root}/fuzz/corpus/${module})
        add_executable(${stem} ${source})
        target_link_libraries(${stem} PRIVATE
            writ_flags writ_test_support ${test_uses_${stem}})
        set_target_properties(${stem} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
        if(WRIT_FUZZ)
            target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
            # inputs that the fuzzer finds go to the build folder, never to the corpus of the sources
            file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fuzz/found/${module})
            add_test(NAME fuzz.${module} COMMAND ${stem}
                -max_total_time=${WRIT_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
                -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/fuzz/${module}-
                ${CMAKE_CURRENT_BINARY_DIR}/fuzz/found/${module} ${corpus})
        else()
            target_sources(${stem} PRIVATE ${test_root}/support/replay_main.c)
            add_test(NAME fuzz.${module} COMMAND ${stem} ${corpus})
        endif()
        writ_test_properties(fuzz.${module} fuzz ${test_timeout_s})
    endforeach()
endfunction()

# Scenarios that run a second time with their ledgers on PostgreSQL, as integration.<name>.postgres:
# those of calls, and not those that look into the files of SQLite.
set(test_postgres
    assurance batches budgets calls candidates children contents crewreviewers definitions delegations disconnects elicited
    ending erasewait export extensions faults flowproof flows flowsources forged hooks idle joined kills log manyreviews merged never notices
    notify once pool program receipts redeem reads reload results resume retention reviewengines reviewers reviews rounds sessions shares
    shown silence streams tamper tasks telemetry tokens
    toolarge undeclared unread upstreams waiting warrant why)

# Every tests/integration/*.test.mjs against the built program. A *.c there is a peer or a tool
# of those tests and is built as <build>/tests/<name>.
function(writ_integration_tests)
    file(GLOB sources CONFIGURE_DEPENDS ${test_root}/integration/*.c)
    foreach(source IN LISTS sources)
        get_filename_component(stem ${source} NAME_WE)
        add_executable(${stem} ${source})
        target_link_libraries(${stem} PRIVATE writ_flags writ_test_support)
        set_target_properties(${stem} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
    endforeach()
    file(GLOB scenarios CONFIGURE_DEPENDS ${test_root}/integration/*.test.mjs)
    foreach(scenario IN LISTS scenarios)
        get_filename_component(stem ${scenario} NAME)
        string(REGEX REPLACE "\\.test\\.mjs$" "" name ${stem})
        add_test(NAME integration.${name}
            COMMAND ${test_root}/support/node --test ${scenario})
        writ_test_properties(integration.${name} integration ${test_timeout_s})
        if(name IN_LIST test_postgres)
            add_test(NAME integration.${name}.postgres
                COMMAND ${CMAKE_COMMAND} -E env WRIT_TEST_STORE=postgresql
                    ${test_root}/support/node --test ${scenario})
            writ_test_properties(integration.${name}.postgres integration ${test_timeout_s})
        endif()
    endforeach()
endfunction()

# tests/fault/fleet: gateways on one ledger under seeded faults, a minute for each store; clock.c is preloaded into them.
function(writ_fleet_tests)
    set(fleet ${test_root}/fault/fleet)
    add_library(fleet_clock MODULE ${fleet}/clock.c)
    target_link_libraries(fleet_clock PRIVATE writ_flags)
    set_target_properties(fleet_clock PROPERTIES PREFIX "" C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
    add_test(NAME fault.fleet_checker COMMAND ${test_root}/support/node --test ${fleet}/checker.test.mjs)
    writ_test_properties(fault.fleet_checker fault ${test_timeout_s})
    foreach(store sqlite postgresql)
        add_test(NAME fault.fleet_${store} COMMAND ${test_root}/support/node --test ${fleet}/fleet.test.mjs)
        writ_test_properties(fault.fleet_${store} fault ${test_timeout_s})
        set_property(TEST fault.fleet_${store} APPEND PROPERTY ENVIRONMENT WRIT_FLEET_STORE=${store})
    endforeach()
endfunction()

# tests/fault/mixed: all kinds of requests at once, two minutes of them.
function(writ_mixed_test)
    add_test(NAME fault.mixed COMMAND ${test_root}/support/node --test ${test_root}/fault/mixed/mixed.test.mjs)
    writ_test_properties(fault.mixed fault ${test_timeout_s})
endfunction()

# examples/tool-server as its Makefile builds it, but in the build and with its flags: the tests and
# the pages run it.
function(writ_example_tool_server)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/examples/tool-server/*.c)
    add_executable(tool-server ${sources})
    target_include_directories(tool-server PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_link_libraries(tool-server PRIVATE writ_flags writ-verify writ-jansson
        writ::microhttpd writ::jansson PkgConfig::jwt writ::sqlite writ::curl writ::crypto)
    target_compile_options(tool-server PRIVATE -U_GNU_SOURCE) # its reader does not define it
    set_target_properties(tool-server PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests)
endfunction()

function(writ_lint_tests)
    file(GLOB scripts CONFIGURE_DEPENDS ${test_root}/lint/*.sh)
    foreach(script IN LISTS scripts)
        get_filename_component(name ${script} NAME_WE)
        add_test(NAME lint.${name} COMMAND sh ${script} ${CMAKE_CURRENT_SOURCE_DIR})
        writ_test_properties(lint.${name} lint ${test_timeout_s})
    endforeach()
endfunction()

writ_fuzz_tests()
if(NOT WRIT_FUZZ)
    writ_check_tests(unit)
    writ_check_tests(fault)
    writ_fleet_tests()
    writ_mixed_test()
    writ_check_tests(conformance)
    writ_example_tool_server()
    writ_integration_tests()
    writ_lint_tests()
endif()

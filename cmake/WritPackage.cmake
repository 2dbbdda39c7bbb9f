# Debian packages: what deploy/ says of an installation that a package manager makes. scripts/package
# builds them with the preset `package`.
include_guard()
if(NOT WRIT_PACKAGE)
    return()
endif()

file(STRINGS /etc/os-release os REGEX "^VERSION_ID=")
string(REGEX REPLACE "[^0-9.]" "" os "${os}")
set(debian_version ${PROJECT_VERSION}-1~deb${os}) # the same version of a newer Debian is newer

# Manual pages and completion scripts are made by the program, from its table of commands.
set(made ${CMAKE_CURRENT_BINARY_DIR}/made)
add_custom_command(OUTPUT ${made}/done
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/deploy/made ${made} ${debian_version}
        ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:writ>
    DEPENDS writ deploy/made CHANGELOG.md VERBATIM)
add_custom_target(made ALL DEPENDS ${made}/done)

# The archives keep code alone: what link-time optimization and debuggers read of it has random names.
install(CODE "
    file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/*.a\")
    execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --enable-deterministic-archives
        --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_slim
        --strip-symbol=__gnu_lto_v1 \${archives} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT dev)

set(share ${CMAKE_INSTALL_DATADIR})
install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT writ)
install(DIRECTORY ${made}/dev/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT dev)
install(FILES ${made}/writ DESTINATION ${share}/bash-completion/completions COMPONENT writ)
install(FILES ${made}/_writ DESTINATION ${share}/zsh/vendor-completions COMPONENT writ)
install(FILES ${made}/writ.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT writ)
install(FILES tests/conformance/verify.mjs tests/conformance/verify.py deploy/writ-stdio.conf
    deploy/prometheus/writ.rules.yml deploy/prometheus/prometheus.yml deploy/grafana/writ.json
    DESTINATION ${share}/writ COMPONENT writ)
install(FILES deploy/writ.service deploy/writ.socket DESTINATION lib/systemd/system COMPONENT writ)
install(FILES deploy/writ.yaml DESTINATION /etc/writ COMPONENT writ)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT writ
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(FILES README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT writ)

# Debian's policy wants these, under these names, in each package.
set(component_writ writ)
set(component_verify libwrit-verify0)
set(component_jansson libwrit-jansson0)
set(component_dev libwrit-dev)
foreach(component writ verify jansson dev)
    set(package ${component_${component}})
    install(FILES ${made}/changelog.gz ${made}/changelog.Debian.gz deploy/copyright DESTINATION ${share}/doc/${package} COMPONENT ${component})
    string(TOUPPER ${component} upper)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL writ verify jansson dev)
set(CPACK_STRIP_FILES ON)
# only with this default text does the description of a package begin with its own summary
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_CONTACT "The Writ developers <writ@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~deb${os}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})

set(CPACK_COMPONENT_WRIT_DESCRIPTION "governance gateway for agent tool calls
Writ stands between MCP clients and MCP servers. For every tool call it
decides, binds, forwards at most once, and keeps evidence in a ledger that
anyone can verify offline.")
set(CPACK_DEBIAN_WRIT_PACKAGE_SECTION net)
set(CPACK_DEBIAN_WRIT_PACKAGE_DEPENDS "adduser, ca-certificates")
set(CPACK_DEBIAN_WRIT_PACKAGE_SUGGESTS "nodejs, python3") # the verifiers in /usr/share/writ
set(CPACK_DEBIAN_WRIT_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/prerm
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/postrm
    ${CMAKE_CURRENT_SOURCE_DIR}/deploy/conffiles)
set(CPACK_COMPONENT_VERIFY_DESCRIPTION "verifier of Writ's credentials
The library by which a tool server checks that a credential was issued for
the very call that it received.")
set(CPACK_DEBIAN_VERIFY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_JANSSON_DESCRIPTION "verifier of Writ's credentials, for jansson
Values of jansson in and out of the verifier of credentials and of the crew
library.")
set(CPACK_DEBIAN_JANSSON_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_JANSSON_PACKAGE_DEPENDS "libwrit-verify0 (= ${debian_version})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "headers and archives of Writ
What programs are built with that verify credentials, use the crew library,
or run Writ's test vectors.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libwrit-verify0 (= ${debian_version}), libwrit-jansson0 (= ${debian_version})")
include(CPack)

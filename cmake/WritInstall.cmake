# What an installation holds. Only include/writ is public; libraries are installed with it.
include_guard()
include(GNUInstallDirs)

if(TARGET writ)
    install(TARGETS writ RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/docs/writ.1)
    install(FILES docs/writ.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/config/*.yaml)
install(FILES ${examples} LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# An installation can be moved: its pkg-config files find it from where they are, unless a folder was
# configured as absolute.
set(WRIT_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
set(WRIT_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
set(WRIT_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    set(WRIT_PC_PREFIX "\${pcfiledir}/${up}")
    set(WRIT_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
        set(WRIT_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
    endif()
endif()

file(GLOB public_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/writ/*.h)
if(public_headers)
    install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/writ)
    writ_existing(public_libraries policy plugins crew store evidence base)
    install(TARGETS ${public_libraries} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    list(TRANSFORM public_libraries PREPEND "-l" OUTPUT_VARIABLE link_flags)
    list(JOIN link_flags " " WRIT_PC_LIBS)
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/writ.pc.in writ.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/writ.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET writ-verify)
    install(TARGETS writ-verify LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/writ-verify.pc.in writ-verify.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/writ-verify.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# The content of an installation: include/writ, which alone is public, and the libraries.
include_guard()
include(GNUInstallDirs)

# Components are packages (WritPackage.cmake): the program, its two libraries, and what developers need.
set(component_of_writ writ)
set(component_of_writ-vectors dev)
foreach(program writ writ-vectors)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component_of_${program}})
        if(NOT WRIT_PACKAGE) # there it is compressed
            install(FILES docs/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        endif()
    endif()
endforeach()
file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/config/*.yaml)
install(FILES ${examples} LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT writ)

# An installation can be moved: its pkg-config files find it relative to themselves, unless a folder
# was configured as absolute.
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
    install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/writ COMPONENT dev)
    writ_existing(public_libraries policy_read policy_decide policy_schema policy_detect policy_model plugins crew ${store_rooms} ${evidence_rooms} base)
    install(TARGETS ${public_libraries} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
    list(TRANSFORM public_libraries PREPEND "-l" OUTPUT_VARIABLE link_flags)
    list(JOIN link_flags " " WRIT_PC_LIBS)
    configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/writ.pc.in writ.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/writ.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endif()
foreach(library verify jansson)
    if(TARGET writ-${library})
        install(TARGETS writ-${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT ${library} NAMELINK_COMPONENT dev)
        configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/writ-${library}.pc.in writ-${library}.pc @ONLY)
        install(FILES ${CMAKE_CURRENT_BINARY_DIR}/writ-${library}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
    endif()
endforeach()

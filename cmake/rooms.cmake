# One static library per room of src/, with the project's warnings.

add_library(diarist_flags INTERFACE)
# No contraction: sums of the exact pipeline must not depend on the instruction set. Kernels that
# want fused multiply-adds ask for them by name.
target_compile_options(diarist_flags INTERFACE
                       $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wpedantic;-Wno-missing-field-initializers;-ffp-contract=off>)
if(DIARIST_WERROR)
  target_compile_options(diarist_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(DIARIST_SANITIZE)
  target_compile_options(diarist_flags INTERFACE -fsanitize=${DIARIST_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(diarist_flags INTERFACE -fsanitize=${DIARIST_SANITIZE})
endif()

# diarist_room(NAME SOURCES a.cpp ... [LINKS targets ...])
function(diarist_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_library(diarist_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(diarist_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(diarist_${name} PUBLIC diarist_flags ${ROOM_LINKS})
  # The library is made of the rooms and links what they link (cmake/library.cmake).
  set_property(GLOBAL APPEND PROPERTY DIARIST_ROOMS diarist_${name})
  list(FILTER ROOM_LINKS EXCLUDE REGEX "^diarist_")
  set_property(GLOBAL APPEND PROPERTY DIARIST_FOREIGN ${ROOM_LINKS})
endfunction()

# diarist_test(NAME SOURCES a.cpp ... [LINKS targets ...]): a GoogleTest program.
function(diarist_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE diarist_flags diarist_test_support ${TEST_LINKS}
                        GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900)
endfunction()

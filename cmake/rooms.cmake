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
  if(DIARIST_SANITIZE MATCHES "undefined")
    # What the address sanitizer sees as well; as checks of their own they cost a quarter of the
    # compile time.
    target_compile_options(diarist_flags INTERFACE -fno-sanitize=null,object-size)
  endif()
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

# diarist_calls_only(TARGET...): these sources call what takes time, they don't do it themselves, and
# better code for them would cost a third of the whole build. With little optimization gcc sees less of
# a function and warns of uninitialized numbers where there are none.
function(diarist_calls_only)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE
                           $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
    if(DIARIST_SANITIZE)
      target_compile_options(${target} PRIVATE -O0)
    else()
      target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    endif()
  endforeach()
endfunction()

# diarist_test(NAME SOURCES a.cpp ... [LINKS targets ...] [COST seconds]): a GoogleTest program.
# Tests with a higher cost begin first, so that no long one is alone at the end.
function(diarist_test name)
  cmake_parse_arguments(TEST "" "COST" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE diarist_flags diarist_test_support ${TEST_LINKS}
                        GTest::gtest_main)
  diarist_calls_only(${name})
  if(NOT DEFINED TEST_COST)
    set(TEST_COST 1)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 COST ${TEST_COST})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# allot_test(name SOURCES ... LINKS ... [TIMEOUT seconds] [LABELS ...]): one GoogleTest binary, one
# ctest entry. A binary is the unit, because a fixture that starts a database is shared by its tests.

find_package(GTest REQUIRED)

function(allot_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  allot_target(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# allot_test_kinds(name SOURCES ... LINKS ... TIMEOUT seconds): one binary of several sources, each
# KIND_test.cc of which has a ctest entry NAME_KIND that runs its tests. For tests that share no
# fixture, so that they are linked once. A suite is in one source only.
function(allot_test_kinds name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  allot_target(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests OUTPUT_NAME ${name}_kinds)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_SOURCES})
  foreach(source ${ARG_SOURCES})
    if(NOT source MATCHES "^(.*)_test\\.cc$")
      continue()
    endif()
    set(entry ${name}_${CMAKE_MATCH_1})
    file(STRINGS ${source} unknown REGEX "^(TEST_P|TYPED_TEST)")
    if(unknown)
      message(FATAL_ERROR "${source}: only TEST and TEST_F are found by allot_test_kinds(): ${unknown}")
    endif()
    file(STRINGS ${source} cases REGEX "^TEST(_F)?\\(")
    list(TRANSFORM cases REPLACE "^TEST(_F)?\\(([A-Za-z0-9_]+).*" "\\2.*")
    list(REMOVE_DUPLICATES cases)
    list(JOIN cases ":" filter)
    # GoogleTest names the file of its results after the program that was started.
    file(CREATE_LINK ${name}_kinds ${PROJECT_BINARY_DIR}/tests/${entry} SYMBOLIC)
    add_test(NAME ${entry}
      COMMAND ${PROJECT_BINARY_DIR}/tests/${entry} "--gtest_filter=${filter}")
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endforeach()
endfunction()

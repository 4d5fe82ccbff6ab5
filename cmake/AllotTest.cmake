# SPDX-License-Identifier: Apache-2.0
# A ctest entry and the target that builds its programs have the same name; scripts/check relies on
# it.
#
# allot_test(name SOURCES ... LINKS ... [TIMEOUT seconds] [LABELS ...] [SHARDS number]): one
# GoogleTest binary, one ctest entry. The unit is a binary, because its tests share a fixture that
# starts a database. SHARDS splits slow tests into this number of entries, NAME_1 and so on, which
# run concurrently: GoogleTest distributes its cases over them, so each runs once. Every shard
# starts its own database, which takes a second.
#
# Labels, several per entry (docs/checks.md): plain, nightly, mysql, server, threads.

find_package(GTest REQUIRED)
allot_precompile(program EXECUTABLE GTest::gtest)

# Settings shared by every test program.
function(allot_test_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  allot_target(${name})
  allot_test_sanitizers(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} allot_test_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  allot_reuse_precompiled(${name} program)
endfunction()

function(allot_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;SHARDS" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  allot_test_program(${name} SOURCES ${ARG_SOURCES} LINKS ${ARG_LINKS})
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
    return()
  endif()
  foreach(number RANGE 1 ${ARG_SHARDS})
    set(entry ${name}_${number})
    math(EXPR index "${number} - 1")
    allot_test_entry(${entry} ${name})
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
    add_custom_target(${entry} DEPENDS ${name})
  endforeach()
endfunction()

# allot_test_entry(entry program [argument...]): one of several ctest entries of a program in
# tests/. GoogleTest names its result file after the started program.
function(allot_test_entry entry program)
  file(CREATE_LINK ${program} ${PROJECT_BINARY_DIR}/tests/${entry} SYMBOLIC)
  add_test(NAME ${entry} COMMAND ${PROJECT_BINARY_DIR}/tests/${entry} ${ARGN})
endfunction()

# allot_test_kinds(prefix program SOURCES ... LINKS ... TIMEOUT seconds [LABELS ...]): one program
# of several sources, each KIND_test.cc of which has a ctest entry PREFIX_KIND that runs its tests.
# For tests without a shared fixture, so that they are linked once. A suite is in one source only.
function(allot_test_kinds prefix program)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  allot_test_program(${program} SOURCES ${ARG_SOURCES} LINKS ${ARG_LINKS})
  # The build already has a folder with the program's name.
  set_target_properties(${program} PROPERTIES OUTPUT_NAME ${program}_kinds)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_SOURCES})
  foreach(source ${ARG_SOURCES})
    if(NOT source MATCHES "^(.*)_test\\.cc$")
      continue()
    endif()
    set(entry ${prefix}_${CMAKE_MATCH_1})
    file(STRINGS ${source} unknown REGEX "^(TEST_P|TYPED_TEST)")
    if(unknown)
      message(FATAL_ERROR "${source}: only TEST and TEST_F are found by allot_test_kinds(): ${unknown}")
    endif()
    file(STRINGS ${source} cases REGEX "^TEST(_F)?\\(")
    list(TRANSFORM cases REPLACE "^TEST(_F)?\\(([A-Za-z0-9_]+).*" "\\2.*")
    list(REMOVE_DUPLICATES cases)
    list(JOIN cases ":" filter)
    allot_test_entry(${entry} ${program}_kinds "--gtest_filter=${filter}")
    set_tests_properties(${entry} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
    add_custom_target(${entry} DEPENDS ${program})
  endforeach()
endfunction()

# allot_unit_tests(name SOURCES ... LINKS ... [DEFINES ...]): tests of a room that need no separate
# program. They are part of the program `unit`, which is linked once; the ctest entry unit_NAME runs
# the suites of these sources.
function(allot_unit_tests name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;DEFINES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(unit PRIVATE ${ARG_SOURCES})
  target_link_libraries(unit PRIVATE ${ARG_LINKS})
  target_compile_definitions(unit PRIVATE ${ARG_DEFINES})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_SOURCES})
  foreach(source ${ARG_SOURCES})
    file(STRINGS ${source} suites REGEX "^TEST(_[FP])?\\(")
    list(TRANSFORM suites REPLACE "^TEST(_[FP])?\\(([A-Za-z0-9_]+).*" "\\2")
    foreach(suite ${suites})
      list(APPEND filter "${suite}.*" "*/${suite}.*")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES filter)
  list(JOIN filter ":" filter)
  set(entry unit_${name})
  allot_test_entry(${entry} unit_programs "--gtest_filter=${filter}")
  set_tests_properties(${entry} PROPERTIES TIMEOUT 60)
  add_custom_target(${entry} DEPENDS unit)
endfunction()

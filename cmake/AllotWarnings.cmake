# SPDX-License-Identifier: Apache-2.0
# allot_target(name): settings shared by every target of this project: warnings, sanitizers, include
# root.

function(allot_target target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wformat=2
    -Wundef $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
  # In a unity build a using-directive of one source applies to the joined sources, too. lint
  # compiles each source by itself, with this warning.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
  # g++ 12 reports an overlap for every "literal" + std::string (https://gcc.gnu.org/PR105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(ALLOT_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(ALLOT_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${ALLOT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${ALLOT_SANITIZE})
  endif()
  if(ALLOT_SANITIZE MATCHES undefined AND NOT ALLOT_SANITIZE_POINTERS)
    target_compile_options(${target} PRIVATE -fno-sanitize=vptr,null,object-size,alignment)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/daemon)
endfunction()

# allot_test_sanitizers(target): for a target with test sources only. The check at every end of a
# block takes a seventh of their compile time, and finds almost nothing in a test; the tested code
# has it.
function(allot_test_sanitizers target)
  if(ALLOT_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -fno-sanitize=vptr,null,object-size,alignment)
  endif()
  if(ALLOT_SANITIZE MATCHES address)
    target_compile_options(${target} PRIVATE -fno-sanitize-address-use-after-scope)
  endif()
endfunction()

# allot_library(name SOURCES ... LINKS ...): the static library of one folder under daemon/.
function(allot_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(allot_${name} STATIC ${ARG_SOURCES})
  allot_target(allot_${name})
  target_link_libraries(allot_${name} PUBLIC ${ARG_LINKS})
  allot_reuse_precompiled(allot_${name} library)
endfunction()

# allot_program(name INSTALL dir SOURCES ... LINKS ...): one executable.
function(allot_program name)
  cmake_parse_arguments(ARG "" "INSTALL" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  allot_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  install(TARGETS ${name} RUNTIME DESTINATION ${ARG_INSTALL})
endfunction()

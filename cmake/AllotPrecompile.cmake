# SPDX-License-Identifier: Apache-2.0
# ALLOT_PRECOMPILE: the most common headers are compiled once for all libraries and once for all
# test programs, instead of once for each. Every source still includes the headers that it uses:
# scripts/lint compiles each by itself.

option(ALLOT_PRECOMPILE "Read the headers that most sources share once" OFF)

# allot_precompile(kind LIBRARY|EXECUTABLE [library...]): a target that holds the headers. Libraries
# and programs need one each, because they are compiled with -fPIC and -fPIE.
function(allot_precompile kind type)
  if(NOT ALLOT_PRECOMPILE)
    return()
  endif()
  set(headers algorithm array chrono filesystem fstream functional map memory optional set span sstream
    string string_view thread variant vector nlohmann/json.hpp)
  if(type STREQUAL "EXECUTABLE")
    list(APPEND headers future random regex gtest/gtest.h)
  endif()
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  set(target allot_precompiled_${kind})
  if(type STREQUAL "EXECUTABLE")
    add_executable(${target} EXCLUDE_FROM_ALL ${source})
    allot_test_sanitizers(${target})
  else()
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
  endif()
  allot_target(${target})
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json Threads::Threads ${ARGN})
  list(TRANSFORM headers PREPEND "$<$<COMPILE_LANGUAGE:CXX>:<")
  list(TRANSFORM headers APPEND "$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# Excludes targets with a C source, because the headers are C++.
function(allot_reuse_precompiled target kind)
  get_target_property(sources ${target} SOURCES)
  if(ALLOT_PRECOMPILE AND NOT sources MATCHES "\\.c(;|$)")
    target_precompile_headers(${target} REUSE_FROM allot_precompiled_${kind})
  endif()
endfunction()

# For a target with its own compiler options, with which the headers were not compiled.
function(allot_never_precompiled target)
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

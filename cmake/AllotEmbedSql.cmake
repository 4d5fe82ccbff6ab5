# SPDX-License-Identifier: Apache-2.0
# allot_embed_sql(out_header NAMESPACE ns FILES ...): writes every file as one raw string constant,
# so that SQL is read and edited as SQL, and no program looks for .sql files at run time.

function(allot_embed_sql out)
  cmake_parse_arguments(ARG "" "NAMESPACE" "FILES" ${ARGN})
  set(body "// Generated from sql/. Do not edit.\n#pragma once\n\n#include \"sql_text.h\"\n\n")
  string(APPEND body "namespace ${ARG_NAMESPACE} {\n")
  set(all "")
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(REGEX REPLACE "^[0-9]+_" "" verb ${name})
    string(APPEND body
      "inline constexpr SqlText k_${verb}{\"${name}\", R\"~sql~(${text})~sql~\"};\n")
    list(APPEND all "&k_${verb}")
  endforeach()
  list(JOIN all ", " all)
  string(APPEND body "inline constexpr const SqlText* kAll[] = {${all}};\n")
  string(APPEND body "}  // namespace ${ARG_NAMESPACE}\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${body}" @ONLY)
endfunction()

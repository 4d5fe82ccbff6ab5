# SPDX-License-Identifier: Apache-2.0
# allot_sql_fragments(FILES ...): fragments that the files embedded after this call may use
# (sql/README.md). {now} is replaced by the text of now.sql, and {moment died_at} by the text of
# moment.sql with died_at for {arg}; {first} is its first word, {rest} what follows it.
#
# allot_embed_sql(out_header NAMESPACE ns FILES ...): writes every file as one raw string constant,
# so that SQL is read and edited as SQL, and programs need no .sql files at run time.

macro(allot_sql_fragments)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(REGEX REPLACE "^(--[^\n]*\n)+" "" text "${text}")
    string(STRIP "${text}" allot_sql_fragment_${name})
  endforeach()
endmacro()

function(allot_expand_sql text_variable file)
  set(text "${${text_variable}}")
  while("${text}" MATCHES "{([a-z_]+)( ([^{}]+))?}")
    set(named "${CMAKE_MATCH_0}")
    set(fragment "${CMAKE_MATCH_1}")
    set(argument "${CMAKE_MATCH_3}")
    if(NOT DEFINED allot_sql_fragment_${fragment})
      message(FATAL_ERROR "${file}: unknown fragment ${named} (sql/fragments)")
    endif()
    string(REGEX MATCH "^[^ ]+" first "${argument}")
    string(REPLACE "${first} " "" rest "${argument}")
    string(REPLACE "{arg}" "${argument}" expanded "${allot_sql_fragment_${fragment}}")
    string(REPLACE "{first}" "${first}" expanded "${expanded}")
    string(REPLACE "{rest}" "${rest}" expanded "${expanded}")
    string(REPLACE "${named}" "${expanded}" text "${text}")
  endwhile()
  set(${text_variable} "${text}" PARENT_SCOPE)
endfunction()

function(allot_embed_sql out)
  cmake_parse_arguments(ARG "" "NAMESPACE" "FILES" ${ARGN})
  set(body "// Generated from sql/. Do not edit.\n#pragma once\n\n#include \"sql_text.h\"\n\n")
  string(APPEND body "namespace ${ARG_NAMESPACE} {\n")
  set(all "")
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    allot_expand_sql(text ${file})
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

# SPDX-License-Identifier: Apache-2.0
# allot_embed_text(out_header NAMESPACE ns FILES ...): kFiles has the name and content of every
# file, so that texts written by a program are stored, read and tested as files.

function(allot_embed_text out)
  cmake_parse_arguments(ARG "" "NAMESPACE" "FILES" ${ARGN})
  set(body "// Generated. Do not edit.\n#pragma once\n\n#include <string_view>\n#include <utility>\n\n")
  string(APPEND body "namespace ${ARG_NAMESPACE} {\n")
  string(APPEND body "inline constexpr std::pair<std::string_view, std::string_view> kFiles[] = {\n")
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND body "    {\"${name}\", R\"~text~(${text})~text~\"},\n")
  endforeach()
  string(APPEND body "};\n}  // namespace ${ARG_NAMESPACE}\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${body}" @ONLY)
endfunction()

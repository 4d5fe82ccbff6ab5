# SPDX-License-Identifier: Apache-2.0
# allot_add_plugin(name sources...): a handler plugin, name.so, in plugins/ of the build and in the
# plugin folder of the installation.
include(GNUInstallDirs)

function(allot_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE Allot::plugin_api)
  # Hidden, so that classes and variables of one name in two plugins stay two.
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plugins)
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/allot/plugins)
endfunction()

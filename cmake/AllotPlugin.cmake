# SPDX-License-Identifier: Apache-2.0
# allot_add_plugin(name sources...): a handler plugin, name.so, installed in the folder
# ${ALLOT_PLUGIN_FOLDER}. Used by this tree, and by projects after find_package(Allot).

function(allot_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE Allot::plugin_api)
  # Symbols are hidden, so that equal names in two plugins do not collide.
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    SUFFIX ".so"
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  install(TARGETS ${name} LIBRARY DESTINATION ${ALLOT_PLUGIN_FOLDER})
endfunction()

// SPDX-License-Identifier: Apache-2.0
//
// A good plugin over the bare C ABI, in which a definition of the command line breaks one thing
// (see CMakeLists.txt). Its one handler succeeds.
#include <allot/plugin.h>

#ifndef VARIANT_MAGIC
#define VARIANT_MAGIC ALLOT_PLUGIN_MAGIC
#endif
#ifndef VARIANT_ABI
#define VARIANT_ABI ALLOT_ABI_VERSION
#endif
#ifndef VARIANT_SIZE
#define VARIANT_SIZE sizeof(allot_plugin)
#endif
#ifndef VARIANT_NAME
#define VARIANT_NAME "variant"
#endif
#ifndef VARIANT_TYPE
#define VARIANT_TYPE "test.variant"
#endif
#ifndef VARIANT_RUN
#define VARIANT_RUN &succeed
#endif
#ifndef VARIANT_HANDLER_SIZE
#define VARIANT_HANDLER_SIZE sizeof(allot_handler)
#endif
#ifndef VARIANT_HANDLERS
#define VARIANT_HANDLERS &kHandler
#endif
#ifndef VARIANT_HANDLER_ARRAY
#define VARIANT_HANDLER_ARRAY kHandlers
#endif
#ifndef VARIANT_HANDLER_COUNT
#define VARIANT_HANDLER_COUNT (sizeof(kHandlers) / sizeof(kHandlers[0]))
#endif
#ifndef VARIANT_DESCRIPTION
#define VARIANT_DESCRIPTION &kPlugin
#endif

#ifdef VARIANT_UNDEFINED
extern "C" void allot_test_is_defined_nowhere();
#endif

namespace {

template <size_t size>
constexpr allot_str text(const char (&from)[size]) {
  return {from, size - 1};
}

[[maybe_unused]] void succeed(void*, const allot_task*, const allot_host*, allot_outcome* outcome) {
#ifdef VARIANT_UNDEFINED
  allot_test_is_defined_nowhere();
#endif
  outcome->kind = ALLOT_SUCCESS;
}

[[maybe_unused]] constexpr allot_handler kHandler = {VARIANT_HANDLER_SIZE,
                                                     text(VARIANT_TYPE),
                                                     text(""),
                                                     nullptr,
                                                     VARIANT_RUN,
                                                     nullptr,
                                                     nullptr,
                                                     0,
                                                     0,
                                                     0,
                                                     nullptr,
                                                     nullptr};

[[maybe_unused]] constexpr const allot_handler* kHandlers[] = {VARIANT_HANDLERS};

[[maybe_unused]] constexpr allot_plugin kPlugin = {
    VARIANT_MAGIC, VARIANT_ABI,           VARIANT_SIZE,         text(VARIANT_NAME),
    text("1.2"),   VARIANT_HANDLER_ARRAY, VARIANT_HANDLER_COUNT};

}  // namespace

const allot_plugin* allot_plugin_describe(void) {
  return VARIANT_DESCRIPTION;
}

// SPDX-License-Identifier: Apache-2.0
//
// Handlers whose constructors throw; the second throws something that is not std::exception.
#include <allot/plugin.hpp>
#include <stdexcept>

namespace {

class NeedsKey : public allot::Handler {
 public:
  explicit NeedsKey(const allot::Config& config) {
    if (config.get("key").empty()) throw std::runtime_error("[plugins.init] key is not set");
  }
  allot::Outcome run(allot::Context&) override { return allot::success(); }
};

class ThrowsInt : public allot::Handler {
 public:
  ThrowsInt() { throw 42; }
  allot::Outcome run(allot::Context&) override { return allot::success(); }
};

ALLOT_HANDLER("test.needs_key", NeedsKey)
ALLOT_HANDLER("test.throws_int", ThrowsInt)
ALLOT_PLUGIN("init", "1.0")

}  // namespace

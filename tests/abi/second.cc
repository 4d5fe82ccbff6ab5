// SPDX-License-Identifier: Apache-2.0
#include <allot/plugin.hpp>

struct Hello : allot::Handler {
  static constexpr std::size_t kMaxBatch = 20;
  allot::Outcome run(allot::Context&) override { return allot::fail("second"); }
  std::vector<allot::Outcome> run_many(std::span<allot::Context> tasks) override {
    return std::vector<allot::Outcome>(tasks.size(), allot::fail("second"));
  }
};

ALLOT_HANDLER("plain.second", Hello)
ALLOT_PLUGIN("second", "2")

// SPDX-License-Identifier: Apache-2.0
//
// The other file of second.so: its handlers are offered together with the handlers of second.cc.
#include <allot/plugin.hpp>

// How many whole seconds are left.
struct TimeLeft : allot::Handler {
  static constexpr std::chrono::minutes kProgressEvery{2};
  allot::Outcome run(allot::Context& ctx) override {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(ctx.time_left());
    return allot::fail(std::to_string(left.count()));
  }
};

ALLOT_HANDLER("plain.time_left", TimeLeft)

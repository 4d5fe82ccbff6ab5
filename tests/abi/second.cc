// SPDX-License-Identifier: Apache-2.0
#include <allot/plugin.hpp>

struct Hello : allot::Handler {
  allot::Outcome run(allot::Context&) override { return allot::fail("second"); }
};

ALLOT_HANDLER("plain.second", Hello)
ALLOT_PLUGIN("second", "2")

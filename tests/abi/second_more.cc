// SPDX-License-Identifier: Apache-2.0
//
// The other file of second.so: its handlers are offered beside those of second.cc.
#include <allot/plugin.hpp>

struct More : allot::Handler {
  allot::Outcome run(allot::Context& ctx) override { return allot::fail(std::string(ctx.type())); }
};

ALLOT_HANDLER("plain.more", More)

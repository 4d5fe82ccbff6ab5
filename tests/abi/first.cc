// SPDX-License-Identifier: Apache-2.0
//
// As a stranger writes it: no anonymous namespace, and a class name that second.cc has too.
#include <allot/plugin.hpp>

struct Hello : allot::Handler {
  explicit Hello(const allot::Config& config) : word(config.get("word")) {}
  allot::Outcome run(allot::Context& ctx) override {
    ctx.heartbeat();
    ctx.info("first says " + std::string(ctx.payload()));
    return allot::retry("first " + word, std::chrono::seconds(2));
  }
  std::string word;
};

ALLOT_HANDLER("plain.first", Hello)
ALLOT_HANDLER("plain.first_again", Hello)

// SPDX-License-Identifier: Apache-2.0
//
// hello: greets the name in the payload.
//
//   [plugins.hello]
//   greeting = "good morning"
#include <allot/plugin.hpp>

namespace {

class Hello : public allot::Handler {
 public:
  // Runs once in each worker. If it throws, the worker does not start: check settings here.
  explicit Hello(const allot::Config& config) : greeting_(config.get("greeting", "good day")) {}

  // Runs one task. It may run twice, because a worker can die after the work and before the
  // acknowledgement.
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.payload().empty()) return allot::fail("no name to greet");  // never again
    if (ctx.stop_requested()) return allot::retry("stopping");          // retried later
    ctx.info(greeting_ + ", " + std::string(ctx.payload()));            // one line of the log
    return allot::success();                                            // done
  }

 private:
  std::string greeting_;
};

ALLOT_HANDLER("hello", Hello)
ALLOT_PLUGIN("hello", "0.1.0")

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Handlers that report what the host gave them, as the reason of a failure.
//   [plugins.watcher]
//   word = "..."       what observe.config reports
//   farewell = "FILE"  where the destructor of observe.config leaves a line
#include <allot/plugin.hpp>
#include <fstream>
#include <thread>

namespace {

class ReportConfig : public allot::Handler {
 public:
  explicit ReportConfig(const allot::Config& config)
      : word_(config.get("word", "fallback")), farewell_(config.get("farewell")) {}
  ReportConfig(const ReportConfig&) = delete;
  ReportConfig& operator=(const ReportConfig&) = delete;
  ~ReportConfig() override {
    if (!farewell_.empty()) std::ofstream(farewell_) << "destroyed\n";
  }
  allot::Outcome run(allot::Context&) override { return allot::fail(word_); }

 private:
  std::string word_;
  std::string farewell_;
};

class ReportTask : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    std::string all;
    for (const auto part : {ctx.id(), ctx.queue(), ctx.type(), ctx.payload()}) {
      all += std::string(part) + "|";
    }
    return allot::fail(all + std::to_string(ctx.attempt()) + "|" +
                       std::to_string(ctx.max_attempts()));
  }
};

std::string use_hooks(const allot::Context& ctx) {
  ctx.debug("at debug");
  ctx.info("at info");
  ctx.warn("at warn");
  ctx.error("at error");
  ctx.heartbeat();
  return ctx.stop_requested() ? "asked to stop" : "may continue";
}

class UseHooks : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override { return allot::fail(use_hooks(ctx)); }
};

class UseHooksInThread : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    std::string answer;
    std::thread([&] { answer = use_hooks(ctx); }).join();
    return allot::fail(answer);
  }
};

class Later : public allot::Handler {
 public:
  allot::Outcome run(allot::Context&) override {
    return allot::retry("later", std::chrono::milliseconds(1500));
  }
};

// payload: how long its reason is.
class Verbose : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    return allot::fail(std::string(std::stoul(std::string(ctx.payload())), 'x'));
  }
};

ALLOT_PLUGIN("watcher", "2.0")
ALLOT_HANDLER("observe.config", ReportConfig)
ALLOT_HANDLER("observe.task", ReportTask)
ALLOT_HANDLER("observe.hooks", UseHooks)
ALLOT_HANDLER("observe.thread", UseHooksInThread)
ALLOT_HANDLER("observe.later", Later)
ALLOT_HANDLER("observe.verbose", Verbose)

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The handler of the fault harness: it records its start and its imminent return.
//   [plugins.fault]
//   output = "FILE"        traces; FILE.razed: processes killed by raze
// payload: TAG MILLISECONDS success|retry|fail|crash|poison|raze|late
// retry and crash succeed from their second attempt on; poison never does, nor does raze, which
// kills allotd and all its workers. late succeeds, unless a stop is requested: then it reports
// retry or fail.
#include <poll.h>

#include <fstream>
#include <random>

#include "plugin_trace.h"

namespace {

class Traced : public allot::Handler {
 public:
  explicit Traced(const allot::Config& config)
      : tracer_(config), razed_(Tracer::opened(std::string(config.get("output")) + ".razed")) {}
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() override { ::close(razed_); }

  allot::Outcome run(allot::Context& ctx) override {
    std::istringstream payload{std::string(ctx.payload())};
    std::string tag;
    std::string verdict;
    int milliseconds = 0;
    if (!(payload >> tag >> milliseconds >> verdict)) return allot::fail("no such payload");
    tracer_.begin(ctx, tag);
    if (milliseconds > 0) ::poll(nullptr, 0, milliseconds);
    if ((verdict == "retry" || verdict == "crash") && ctx.attempt() > 1) verdict = "success";
    if (verdict == "late") verdict = late_verdict(ctx);
    if (verdict == "poison") verdict = "crash";
    tracer_.end(verdict, ctx, tag);
    if (verdict == "crash") Tracer::crash();
    if (verdict == "raze") raze();
    if (verdict == "success") return allot::success();
    return verdict == "retry" ? allot::retry("as told") : allot::fail("as told");
  }

 private:
  static std::string late_verdict(const allot::Context& ctx) {
    if (!ctx.stop_requested()) return "success";
    return std::random_device{}() % 2 == 0 ? "retry" : "fail";
  }

  // Stops allotd first, so that it heals nothing.
  [[noreturn]] void raze() const {
    const pid_t supervisor = tracer_.parent();
    ::kill(supervisor, SIGSTOP);
    std::ifstream children("/proc/" + std::to_string(supervisor) + "/task/" +
                           std::to_string(supervisor) + "/children");
    for (pid_t child = 0; children >> child;) {
      if (child == ::getpid()) continue;
      ::kill(child, SIGKILL);
      note_razed(child);
    }
    ::kill(supervisor, SIGKILL);
    note_razed(supervisor);
    ::raise(SIGKILL);
    ::_exit(1);
  }
  void note_razed(pid_t pid) const {
    const auto at = std::to_string(Tracer::now());
    Tracer::write_record(razed_,
                         "razed " + std::to_string(pid) + " " + at + " " + at + " fatal host");
  }

  Tracer tracer_;
  int razed_;
};

ALLOT_PLUGIN("fault", "1")
ALLOT_HANDLER("fault.run", Traced)

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The handlers of a swarm (README.md): the payload determines what a task does.
//   TAG MILLISECONDS VERB [kept] [padding]
//   ok                       success after MILLISECONDS
//   long                     the same, but checks every 20 ms for a stop request
//   tick                     success at a multiple of MILLISECONDS, so that concurrent tasks end
//                            together
//   fail                     dead at once
//   retry, soon, throw       fails the first time: by the policy, after 100 ms, with an exception
//   crash, poison            SIGSEGV the first time, always
//   hang                     the first time it runs until it is killed
//   snooze, release          sometimes requests another run without an attempt
//   hold                     always requests another run in an hour
//   keep                     fails the first time, after a checkpoint that says `kept`
//   replace, effect, both    replaces itself by two tasks, writes a row, both
#include <poll.h>

#include <algorithm>
#include <random>
#include <vector>

#include "plugin_trace.h"
#include "tags.h"

namespace {

struct Job {
  std::string tag;
  int milliseconds = 0;
  std::string verb;
  bool kept = false;

  explicit Job(std::string_view payload) {
    std::istringstream words{std::string(payload)};
    std::string more;
    if (!(words >> tag >> milliseconds >> verb)) throw std::runtime_error("no such payload");
    kept = (words >> more) && more == "kept";
  }
  // True if it can run in one call with other tasks.
  [[nodiscard]] bool sociable() const {
    return verb != "throw" && verb != "keep" && verb != "replace" && verb != "effect" &&
           verb != "both";
  }
};

bool by_chance() {
  return std::random_device{}() % 2 == 0;
}

class Swarm : public allot::Handler {
 public:
  explicit Swarm(const allot::Config& config) : tracer_(config) {}

  allot::Outcome run(allot::Context& ctx) override {
    const Job job(ctx.payload());
    tracer_.begin(ctx, job.tag, job.kept ? "kept" : "");
    try {
      return work(ctx, job);
    } catch (...) {
      tracer_.end("throw", ctx, job.tag);
      throw;
    }
  }

 protected:
  // A task of a call behaves like a single one, except that it writes nothing.
  std::vector<allot::Outcome> together(std::span<allot::Context> tasks) const {
    std::vector<Job> jobs;
    int longest = 0;
    for (const allot::Context& ctx : tasks) {
      jobs.emplace_back(ctx.payload());
      tracer_.begin(ctx, jobs.back().tag, jobs.back().kept ? "kept" : "");
      if (jobs.back().verb != "long") longest = std::max(longest, jobs.back().milliseconds);
    }
    ::poll(nullptr, 0, longest);
    if (!std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.sociable(); })) {
      for (std::size_t i = 0; i < jobs.size(); ++i) tracer_.end("throw", tasks[i], jobs[i].tag);
      throw std::runtime_error("each alone");
    }
    std::vector<allot::Outcome> outcomes;
    for (std::size_t i = 0; i < jobs.size(); ++i) outcomes.push_back(verdict(tasks[i], jobs[i]));
    return outcomes;
  }

 private:
  allot::Outcome work(allot::Context& ctx, const Job& job) const {
    if (job.verb == "long") return patient(ctx, job);
    if (job.verb == "tick")
      wait_for_tick(job.milliseconds);
    else if (job.milliseconds > 0)
      ::poll(nullptr, 0, job.milliseconds);
    if (job.verb == "throw" && ctx.attempt() == 1) throw std::runtime_error("as told");
    if (job.verb == "replace" || job.verb == "both") replace(ctx, job);
    if (job.verb == "effect" || job.verb == "both") {
      const allot::Transaction sql = ctx.transaction();
      sql.execute("INSERT INTO effect (tag) VALUES (?)", job.tag);
    }
    if (job.verb == "keep" && !job.kept) {
      ctx.checkpoint(job.tag + " " + std::to_string(job.milliseconds) + " keep kept " +
                     std::string(200, 'k'));
      tracer_.note("kept", ctx, job.tag);
      tracer_.end("retry", ctx, job.tag);
      return allot::retry("as told");
    }
    return verdict(ctx, job);
  }

  static void wait_for_tick(int milliseconds) {
    const long long length = std::max(1, milliseconds) * 1'000'000LL;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const long long tick = ((now.tv_sec * 1'000'000'000LL + now.tv_nsec) / length + 1) * length;
    const timespec until{tick / 1'000'000'000LL, tick % 1'000'000'000LL};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }

  allot::Outcome patient(const allot::Context& ctx, const Job& job) const {
    const long long until = Tracer::now() + job.milliseconds * 1'000'000LL;
    while (Tracer::now() < until) {
      if (ctx.stop_requested()) return said("stopped", allot::retry("stopped"), ctx, job);
      ::poll(nullptr, 0, 20);
    }
    return said("success", allot::success(), ctx, job);
  }

  allot::Outcome verdict(const allot::Context& ctx, const Job& job) const {
    const bool first = ctx.attempt() == 1;
    if (job.verb == "poison" || (job.verb == "crash" && first)) {
      tracer_.end("crash", ctx, job.tag);
      Tracer::crash();
    }
    while (job.verb == "hang" && first) ::poll(nullptr, 0, 1'000);
    if (job.verb == "fail") return said("fail", allot::fail("as told"), ctx, job);
    if (job.verb == "retry" && first) return said("retry", allot::retry("as told"), ctx, job);
    if (job.verb == "soon" && first)
      return said("retry", allot::retry("as told", std::chrono::milliseconds(100)), ctx, job);
    if (job.verb == "hold")
      return said("hold", allot::retry("as told", std::chrono::hours(1)), ctx, job);
    if (job.verb == "snooze" && by_chance())
      return said("snooze", allot::snooze(std::chrono::milliseconds(200)), ctx, job);
    if (job.verb == "release" && by_chance()) return said("release", allot::release(), ctx, job);
    return said("success", allot::success(), ctx, job);
  }

  allot::Outcome said(const char* mark, allot::Outcome outcome, const allot::Context& ctx,
                      const Job& job) const {
    tracer_.end(mark, ctx, job.tag);
    return outcome;
  }

  static void replace(const allot::Context& ctx, const Job& job) {
    std::vector<allot::Submission> tasks;
    for (const unsigned more : allot::fault::kChildren) {
      tasks.push_back({.type = "swarm.plain",
                       .payload = allot::fault::child_tag(job.tag, more) + " 0 ok",
                       .queue = "default"});
    }
    ctx.replace_with(tasks);
  }

  Tracer tracer_;
};

class Side : public Swarm {
 public:
  using Swarm::Swarm;
  static constexpr bool kConcurrent = true;
};

class Many : public Swarm {
 public:
  using Swarm::Swarm;
  static constexpr std::size_t kMaxBatch = 8;
  std::vector<allot::Outcome> run_many(std::span<allot::Context> tasks) override {
    return together(tasks);
  }
};

// Task submitted by a hook.
class Hook : public allot::Handler {
 public:
  explicit Hook(const allot::Config& config) : tracer_(config) {}
  allot::Outcome run(allot::Context& ctx) override {
    return noted(ctx, field(ctx.payload(), "event") + " " + field(ctx.payload(), "task"));
  }

 protected:
  allot::Outcome noted(const allot::Context& ctx, const std::string& about) const {
    const std::string tag = allot::fault::hook_tag(ctx.id());
    tracer_.begin(ctx, tag);
    tracer_.note("hooked", ctx, tag, about);
    tracer_.end("success", ctx, tag);
    return allot::success();
  }

  static std::string field(std::string_view json, const std::string& name) {
    const std::string key = "\"" + name + "\":";
    auto at = json.find(key);
    if (at == std::string_view::npos) return "-";
    at = json.find('"', at + key.size());
    const auto end = json.find('"', at + 1);
    return end == std::string_view::npos ? "-" : std::string(json.substr(at + 1, end - at - 1));
  }

 private:
  Tracer tracer_;
};

// Task submitted by a schedule.
class Tick : public Hook {
 public:
  using Hook::Hook;
  allot::Outcome run(allot::Context& ctx) override {
    return noted(ctx, "tick " + field(ctx.payload(), "scheduled_at"));
  }
};

ALLOT_HANDLER("swarm.plain", Swarm)
ALLOT_HANDLER("swarm.side", Side)
ALLOT_HANDLER("swarm.timed", Side)
ALLOT_HANDLER("swarm.many", Many)
ALLOT_HANDLER("swarm.hook", Hook)
ALLOT_HANDLER("swarm.tick", Tick)

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Handlers that take several tasks in one call.
//   [plugins.batch]
//   output = "FILE"    where each call writes one line as it begins: "many PID NAME:ATTEMPT ..." or
//                      "one PID NAME:ATTEMPT"
// The payload is "NAME", "NAME WORD" or "NAME WORD FILE".
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Order {
  explicit Order(const allot::Context& ctx) {
    std::istringstream words{std::string(ctx.payload())};
    words >> name >> word >> file;
  }
  std::string name, word, file;
};

// The host's answer to a call that writes; empty: success.
template <typename Call>
std::string answer_of(Call&& call) {
  try {
    call();
    return {};
  } catch (const allot::CallError& error) {
    return std::to_string(error.code()) + " " + error.what();
  }
}

std::string try_writes(const allot::Context& ctx) {
  return answer_of([&] { ctx.checkpoint("late"); }) + "|" +
         answer_of([&] { ctx.replace_with({{.type = "unknown.type"}}); }) + "|" +
         answer_of([&] { ctx.transaction().execute("SELECT 1"); });
}

[[noreturn]] void hang() {
  for (;;) ::poll(nullptr, 0, 1'000);
}

bool there(const std::string& file) {
  return ::access(file.c_str(), F_OK) == 0;
}

template <std::size_t most>
class Batches : public allot::Handler {
 public:
  static constexpr std::size_t kMaxBatch = most;
  explicit Batches(const allot::Config& config) : output_(config.get("output")) {}

  allot::Outcome run(allot::Context& ctx) override {
    begins("one", {&ctx, 1});
    const Order order(ctx);
    if (order.word == "gate") wait_at_gate({&ctx, 1}, order.file);
    return end_of(ctx);
  }
  std::vector<allot::Outcome> run_many(std::span<allot::Context> tasks) override {
    begins("many", tasks);
    for (const allot::Context& ctx : tasks) {
      const Order order(ctx);
      if (order.word == "refuse") throw std::runtime_error("no call with " + order.name);
      if (order.word == "odd") return {allot::success()};
      if (order.word == "gate") wait_at_gate(tasks, order.file);
    }
    if (Order(tasks[0]).word == "crowd") submit_at_once(tasks);
    std::vector<allot::Outcome> outcomes;
    for (const allot::Context& ctx : tasks) outcomes.push_back(end_of(ctx));
    return outcomes;
  }

 private:
  void begins(const std::string& verb, std::span<const allot::Context> tasks) const {
    std::string line = verb + " " + std::to_string(::getpid());
    for (const allot::Context& ctx : tasks) {
      line += " " + Order(ctx).name + ":" + std::to_string(ctx.attempt());
    }
    line += "\n";
    const int fd = ::open(output_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const auto written = ::write(fd, line.data(), line.size());
    ::close(fd);
    if (written != static_cast<ssize_t>(line.size())) std::abort();
  }
  // Waits until FILE exists, or FILE.beat, for which it waits with the first host's heartbeat; or
  // until one of the tasks is asked to stop.
  static void wait_at_gate(std::span<const allot::Context> tasks, const std::string& file) {
    while (!there(file)) {
      if (there(file + ".beat")) tasks[0].heartbeat();
      for (const allot::Context& ctx : tasks) {
        if (ctx.stop_requested()) return;
      }
      ::poll(nullptr, 0, 5);
    }
  }
  // Calls each host from a thread of its own.
  static void submit_at_once(std::span<const allot::Context> tasks) {
    std::vector<std::thread> threads;
    for (const allot::Context& ctx : tasks) {
      threads.emplace_back([&ctx] {
        for (int i = 0; i < 20; ++i) ctx.submit({.type = "unknown.type", .payload = "x"});
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  static allot::Outcome end_of(const allot::Context& ctx) {
    const Order order(ctx);
    if (ctx.stop_requested()) return allot::retry("asked to stop");
    if (order.word == "retry") return allot::retry("again", std::chrono::hours(1));
    if (order.word == "fail") return allot::fail("never");
    if (order.word == "snooze") return allot::snooze(std::chrono::hours(1));
    if (order.word == "release") return allot::release();
    if (order.word == "segv") {
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit
      ::raise(SIGSEGV);
    }
    if (order.word == "hang") hang();
    if (order.word == "nap") ::poll(nullptr, 0, 2);
    if (order.word == "writes") return allot::fail(try_writes(ctx));
    if (order.word == "submit") ctx.submit({.type = "unknown.type", .payload = order.name});
    if (order.word == "log") ctx.info("of " + order.name);
    return allot::success();
  }

  const std::string output_;
};

// This one promises progress.
class Steady : public Batches<50> {
 public:
  using Batches::Batches;
  static constexpr std::chrono::seconds kProgressEvery{4};
};

// A worker with runners may run it several times in parallel, and then one by one.
class Concurrent : public Batches<50> {
 public:
  using Batches::Batches;
  static constexpr bool kConcurrent = true;
};

ALLOT_PLUGIN("batch", "1.0")
ALLOT_HANDLER("batch.fifty", Batches<50>)
ALLOT_HANDLER("batch.three", Batches<3>)
ALLOT_HANDLER("batch.steady", Steady)
ALLOT_HANDLER("batch.concurrent", Concurrent)

}  // namespace

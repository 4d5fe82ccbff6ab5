// SPDX-License-Identifier: Apache-2.0
//
// Handlers for the test of the test kit: they report what they were given.
#include <allot/plugin.hpp>
#include <stdexcept>
#include <thread>

namespace {

class Echo : public allot::Handler {
 public:
  explicit Echo(const allot::Config& config) : word_(config.get("word", "none")) {
    if (word_ == "bad") throw std::runtime_error("[plugins.kit] word is bad");
  }
  allot::Outcome run(allot::Context& ctx) override {
    ctx.debug(std::string(ctx.id()) + " " + std::string(ctx.queue()) + " " +
              std::string(ctx.type()));
    ctx.info(word_ + " " + std::string(ctx.payload()));
    if (!ctx.traceparent().empty()) {
      ctx.debug("trace " + std::string(ctx.traceparent()) + " " + std::string(ctx.tracestate()));
    }
    ctx.warn(std::to_string(ctx.attempt()) + "/" + std::to_string(ctx.max_attempts()));
    ctx.error(ctx.time_left() == std::chrono::nanoseconds::max() ? "no limit" : "limit");
    return allot::success();
  }

 private:
  std::string word_;
};

class Verdict : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.payload() == "fail") return allot::fail("never");
    if (ctx.payload() == "retry") return allot::retry("later");
    if (ctx.payload() == "delay") return allot::retry("later", std::chrono::seconds(5));
    throw std::runtime_error("thrown");
  }
};

// Beats on a separate thread until a stop is requested.
class Patient : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    std::thread([&ctx] {
      while (!ctx.stop_requested()) ctx.heartbeat();
    }).join();
    return allot::retry("stopped");
  }
};

// Uses every way to write.
class Writer : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    ctx.checkpoint("half");
    const std::string id = ctx.submit({.type = "other", .payload = "now"});
    ctx.replace_with({{.type = "next", .payload = id, .queue = "q", .prio = 2}, {.type = "last"}});
    const auto sql = ctx.transaction();
    try {
      sql.execute("INSERT INTO seen VALUES (?, ?, ?)", ctx.id(), -3, nullptr);
    } catch (const allot::CallError& refused) {
      return allot::fail(std::to_string(refused.number()) + " " + refused.what());
    }
    const auto found = sql.execute("SELECT name FROM people");
    for (const auto& row : found.rows) ctx.info(row.at(0).value_or("nobody"));
    return allot::success();
  }
};

// Takes several tasks: each ends as its payload says, and "throw" ends the call.
class Several : public allot::Handler {
 public:
  static constexpr std::size_t kMaxBatch = 3;
  allot::Outcome run(allot::Context&) override { return allot::success(); }
  std::vector<allot::Outcome> run_many(std::span<allot::Context> tasks) override {
    std::vector<allot::Outcome> outcomes;
    for (const allot::Context& ctx : tasks) {
      ctx.info(std::string(ctx.payload()) + " of " + std::to_string(tasks.size()));
      if (ctx.payload() == "throw") throw std::runtime_error("thrown");
      if (ctx.payload() == "submit") ctx.submit({.type = "other"});
      outcomes.push_back(ctx.stop_requested()        ? allot::retry("stopped")
                         : ctx.payload() == "fail"   ? allot::fail("never")
                         : ctx.payload() == "writes" ? allot::fail(refusals(ctx))
                                                     : allot::success());
    }
    return outcomes;
  }

 private:
  template <typename Call>
  static std::string refusal(Call&& call) {
    try {
      call();
    } catch (const allot::CallError& error) {
      return std::to_string(error.code()) + " " + error.what();
    }
    return "done";
  }
  static std::string refusals(const allot::Context& ctx) {
    const auto first = refusal([&] { ctx.checkpoint("x"); });
    const auto second = refusal([&] { ctx.replace_with({{.type = "other"}}); });
    const auto third = refusal([&] { ctx.transaction().execute("SELECT 1"); });
    return first == second && second == third ? first : first + second + third;
  }
};

ALLOT_HANDLER("kit.writer", Writer)
ALLOT_HANDLER("kit.all.*", Echo)
ALLOT_HANDLER("kit.all.of.*", Verdict)
ALLOT_HANDLER("kit.echo", Echo)
ALLOT_HANDLER("kit.verdict", Verdict)
ALLOT_HANDLER("kit.patient", Patient)
ALLOT_HANDLER("kit.several", Several)

}  // namespace

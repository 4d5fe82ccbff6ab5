// SPDX-License-Identifier: Apache-2.0
//
// Handlers that write more than their verdict. The tables are the test's:
//   effect (task VARCHAR(32), note VARCHAR(255))
//   [plugins.writes]
//   output = "FILE"   where each run of writes.checkpoint appends what it began with
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

constexpr const char* kInsert = "INSERT INTO effect (task, note) VALUES (?, ?)";

// FILE.here says that it waits.
void wait_for(const std::string& file) {
  std::ofstream(file + ".here").put('\n');
  while (::access(file.c_str(), F_OK) != 0) ::poll(nullptr, 0, 5);
}

// payload: "HOW REST". Saves "kept REST" and then dies, retries, or waits for the file REST.
class Checkpoint : public allot::Handler {
 public:
  explicit Checkpoint(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    if (!output_.empty()) std::ofstream(output_, std::ios::app) << payload << std::endl;
    if (payload.substr(0, 5) == "kept ") return allot::success();
    const std::size_t space = payload.find(' ');
    const std::string how = payload.substr(0, space);
    const std::string rest = payload.substr(space + 1);
    if (how == "late") wait_for(rest);
    ctx.checkpoint("kept " + rest);
    if (how == "die") ::kill(::getpid(), SIGKILL);
    if (how == "wait") wait_for(rest);
    if (how == "snooze") return allot::snooze(std::chrono::milliseconds(0));
    return allot::retry("half way", std::chrono::milliseconds(0));
  }

 private:
  std::string output_;
};

// payload: "HOW NUMBER [FILE]". Submits NUMBER of writes.effect in its place, and then does as HOW
// says: done, retry, die, or wait for FILE and be done.
class Replace : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    const std::size_t space = payload.find(' ');
    const std::string how = payload.substr(0, space);
    const std::string rest = payload.substr(space + 1);
    const int number = std::atoi(rest.c_str());
    for (int i = 0; i < number; ++i) {
      ctx.replace_with({{.type = "writes.effect", .payload = std::string(ctx.id())}});
    }
    if (how == "wait") wait_for(rest.substr(rest.find(' ') + 1));
    if (how == "retry") return allot::retry("not now", std::chrono::hours(1));
    if (how == "die") ::kill(::getpid(), SIGKILL);
    return allot::success();
  }
};

// One row, and what the payload says: nothing, "slow", "nap" (a pause inside of the transaction),
// "child [FILE]" (submits one more in its place, and waits for the file), "retry", "throw", "fail",
// "die", "wait FILE".
class Effect : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    const auto sql = ctx.transaction();
    sql.execute(kInsert, ctx.id(), payload);
    if (payload.substr(0, 5) == "child") {
      ctx.replace_with({{.type = "writes.effect", .payload = "of " + std::string(ctx.id())}});
    }
    if (payload.substr(0, 6) == "child ") wait_for(payload.substr(6));
    if (payload == "slow") ::poll(nullptr, 0, 20);
    if (payload == "nap") ::poll(nullptr, 0, 150);
    if (payload.substr(0, 5) == "wait ") wait_for(payload.substr(5));
    if (payload == "retry") return allot::retry("not now", std::chrono::hours(1));
    if (payload == "throw") throw std::runtime_error("thrown");
    if (payload == "fail") return allot::fail("never");
    if (payload == "die") ::kill(::getpid(), SIGKILL);
    return allot::success();
  }
};

// Executes its payload, and fails with the result: the error's number or the rows.
class Sql : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const auto sql = ctx.transaction();
    std::string told;
    try {
      const allot::SqlResult got = sql.execute(ctx.payload());
      told = "affected " + std::to_string(got.affected);
      for (const auto& row : got.rows) {
        for (const auto& field : row) told += " [" + field.value_or("NULL") + "]";
      }
    } catch (const allot::CallError& error) {
      told =
          std::to_string(error.code()) + " " + std::to_string(error.number()) + " " + error.what();
    }
    return allot::fail(told);
  }
};

// Hides that its statement failed.
class Careless : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const auto sql = ctx.transaction();
    try {
      sql.execute(kInsert, ctx.id(), "before");
      sql.execute(ctx.payload());
    } catch (const allot::CallError&) {
    }
    return allot::success();
  }
};

// payload: a type. Submits one of it, and fails with its id.
class Submit : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    try {
      return allot::fail(ctx.submit({.type = std::string(ctx.payload()), .payload = "child"}));
    } catch (const allot::CallError& error) {
      return allot::fail(std::to_string(error.code()) + " " + error.what());
    }
  }
};

// Writes each kind of value, and reads it back.
class Values : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const auto sql = ctx.transaction();
    const std::string bytes("a\0\xff'\"\\", 6);
    const auto got =
        sql.execute("SELECT ?, ?, ?, ?, ?, ?, ?, HEX(?), ?", nullptr, -5, 18446744073709551615ULL,
                    2.5, "it's \"\\ ?", true, "", allot::bytes{bytes}, std::string(100'000, 'x'));
    std::string told;
    for (const auto& field : got.rows.at(0)) told += field.value_or("NULL").substr(0, 30) + "|";
    return allot::fail(told + std::to_string(got.rows[0].back()->size()));
  }
};

// Reports the calls that are not allowed while a transaction is open.
class Mixed : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const auto sql = ctx.transaction();
    sql.execute(kInsert, ctx.id(), "mixed");
    std::string told;
    const auto tell = [&told](auto&& call) {
      try {
        call();
        told += "done;";
      } catch (const allot::CallError& error) {
        told += std::to_string(error.code()) + " " + error.what() + ";";
      }
    };
    tell([&] { ctx.checkpoint("x"); });
    tell([&] { ctx.submit({.type = "a"}); });
    tell([&] { ctx.replace_with({{.type = "a/b"}}); });
    tell([&] { ctx.replace_with({{.type = "a", .queue = "nowhere"}}); });
    tell([&] { ctx.replace_with({{.type = "a", .prio = 4}}); });
    tell([&] { sql.execute("COMMIT"); });
    tell([&] { sql.execute("/* x */ COMMIT"); });
    tell([&] { sql.execute("SELECT ?"); });
    tell([&] { sql.execute("SELECT 1; COMMIT"); });
    return allot::fail(told);
  }
};

ALLOT_HANDLER("writes.checkpoint", Checkpoint)
ALLOT_HANDLER("writes.replace", Replace)
ALLOT_HANDLER("writes.effect", Effect)
ALLOT_HANDLER("writes.sql", Sql)
ALLOT_HANDLER("writes.careless", Careless)
// Submits the same task twice, with all options, and reports both ids.
class Options : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const allot::Submission task{.type = "later",
                                 .queue = "limited",
                                 .prio = 2,
                                 .delay = std::chrono::hours(1),
                                 .unique_key = "u",
                                 .unique_for = std::chrono::seconds(0),
                                 .partition_key = "k",
                                 .expires_in = std::chrono::hours(2),
                                 .max_attempts = 4,
                                 .traceparent = std::string(ctx.payload())};
    const std::string first = ctx.submit(task);
    return allot::fail(first + " " + ctx.submit(task));
  }
};

ALLOT_HANDLER("writes.options", Options)
ALLOT_HANDLER("writes.submit", Submit)
ALLOT_HANDLER("writes.values", Values)
ALLOT_HANDLER("writes.mixed", Mixed)

}  // namespace

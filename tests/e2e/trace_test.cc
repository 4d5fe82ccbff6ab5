// SPDX-License-Identifier: Apache-2.0
// Headers of a task: a request can be followed through all consequences of its task, and a task may
// have its own limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "e2e/gateway.h"
#include "support/http_client.h"

namespace allot::e2e::trace_test {
namespace {

using support::eventually;

const std::string kTraceId = "0af7651916cd43dd8448eb211c80319c";
const std::string kParent = "00-" + kTraceId + "-b7ad6b7169203331-01";
const std::string kState = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7";

DaemonOptions with_gateway(const std::string& queue_keys) {
  DaemonOptions options;
  options.queue_keys = queue_keys;
  options.more = gateway_section();
  return options;
}

// One request on a new connection.
nlohmann::json asked(const Daemon& daemon, const std::string& what, const std::string& fields = {},
                     const std::string& body = {}) {
  auto client = support::HttpClient::to_socket(gateway_socket(daemon));
  client.send(what + " HTTP/1.1\r\nHost: localhost\r\n" + fields +
              (body.empty() ? ""
                            : "Content-Type: application/json\r\nContent-Length: " +
                                  std::to_string(body.size()) + "\r\n") +
              "\r\n" + body);
  const auto answer = client.answer();
  return answer ? nlohmann::json::parse(answer->body) : nlohmann::json();
}

// The lines of an event about a task.
std::vector<std::string> lines(const Daemon& daemon, const std::string& event,
                               const std::string& task) {
  std::istringstream log(daemon.log());
  std::vector<std::string> found;
  for (std::string line; std::getline(log, line);) {
    const bool of_it = line.find(" task=" + task + " ") != std::string::npos;
    if (of_it && line.find(" " + event + " ") != std::string::npos) found.push_back(line);
  }
  return found;
}

void expect_traced(const Daemon& daemon, const std::string& event, const std::string& task,
                   std::size_t times) {
  std::vector<std::string> found;  // a line comes after the commit that it reports
  EXPECT_TRUE(eventually([&] { return (found = lines(daemon, event, task)).size() >= times; }));
  EXPECT_EQ(found.size(), times) << event << "\n" << daemon.log();
  for (const std::string& line : found) {
    EXPECT_NE(line.find(" trace_id=" + kTraceId + " "), std::string::npos) << line;
  }
}

bool is_in(const Daemon& daemon, const std::string& task, const std::string& state) {
  return eventually([&] { return daemon.task(task)["state"] == state; });
}

// The task's limit is 3, so that its third attempt is its last one; the queue's limit would be 10.
TEST(Trace, GoesThroughRetriesADetachADeathASecondLifeAndAChild) {
  Daemon daemon(with_gateway("history = \"1h\"\ndetach_after = \"100ms\"\n"));
  const std::string file = daemon.folder() + "/go";
  ASSERT_TRUE(eventually([&] { return daemon.logged("gateway.ready"); })) << daemon.log();
  const auto made = asked(
      daemon, "POST /api/v1/tasks",
      "traceparent: " + kParent + "\r\ntracestate: " + kState + "\r\n",
      nlohmann::json{
          {"queue", "default"}, {"type", "test.traced"}, {"payload", file}, {"max_attempts", 3}}
          .dump());
  ASSERT_TRUE(made.contains("id")) << made;
  const std::string task = made["id"];
  ASSERT_TRUE(is_in(daemon, task, "running")) << daemon.log();
  EXPECT_EQ(daemon.task(task)["traceparent"], kParent);
  std::ofstream(file) << "go";
  ASSERT_TRUE(is_in(daemon, task, "dead")) << daemon.log();
  const auto dead = asked(daemon, "GET /api/v1/tasks/" + task);
  EXPECT_EQ(dead["traceparent"], kParent) << dead;
  EXPECT_EQ(dead["tracestate"], kState) << dead;
  EXPECT_EQ(dead["max_attempts"], 3) << dead;
  EXPECT_EQ(dead["attempts_charged"], 3) << dead;
  expect_traced(daemon, "task.retry", task, 2);
  expect_traced(daemon, "task.detached", task, 1);
  expect_traced(daemon, "task.dead", task, 1);

  EXPECT_EQ(daemon.allot({"dead", "retry", task}).status, (support::ExitStatus{0, 0}));
  ASSERT_TRUE(is_in(daemon, task, "done")) << daemon.log();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.task(task)["traceparent"], kParent) << "the history has it";
  EXPECT_EQ(daemon.task(task)["max_attempts"], 3);
  expect_traced(daemon, "handler.log", task, 4);
  expect_traced(daemon, "task.ran", task, 4);
  const auto said = lines(daemon, "handler.log", task);
  EXPECT_NE(said.back().find("heard " + kParent + " " + kState), std::string::npos) << said.back();

  const auto done = nlohmann::json::parse(daemon.allot({"history", "--json"}).out);
  const auto child = std::find_if(done.begin(), done.end(),
                                  [](const auto& one) { return one["type"] == "test.heard"; });
  ASSERT_NE(child, done.end()) << done;
  const auto shown = daemon.task((*child)["task"]);
  const std::string parent = shown["traceparent"];
  EXPECT_EQ(parent.substr(0, 36), kParent.substr(0, 36)) << "the same trace";
  EXPECT_NE(parent, kParent) << "of which the attempt is the parent";
  EXPECT_EQ(parent.size(), kParent.size());
  EXPECT_EQ(shown["tracestate"], kState);
  EXPECT_EQ(shown["max_attempts"], 2);
  expect_traced(daemon, "task.ran", (*child)["task"], 1);
  expect_traced(daemon, "handler.log", (*child)["task"], 1);
}

// Logged by the settler in place of its worker: it knows only the slot.
TEST(Trace, GoesThroughCrashesUpToTheLimitOfTheTask) {
  Daemon daemon({.workers = 1});
  const auto submitted = daemon.allot(
      {"submit", "default", "test.crash", "segv", "--max-attempts", "2", "--traceparent", kParent});
  ASSERT_EQ(submitted.status, (support::ExitStatus{0, 0})) << submitted.err;
  const std::string task = submitted.out.substr(0, submitted.out.find('\n'));
  ASSERT_TRUE(is_in(daemon, task, "dead")) << daemon.log();
  EXPECT_EQ(daemon.task(task)["attempts_charged"], 2);
  EXPECT_EQ(daemon.task(task)["traceparent"], kParent);
  expect_traced(daemon, "task.crashed", task, 2);
  expect_traced(daemon, "task.dead", task, 1);
}

// As for a program that a handler runs.
TEST(Trace, EnvironmentTraceEqualsASubmittedOne) {
  Daemon daemon({.start = false});
  const auto trace_of = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"submit", "default", "t", "x"};
    words.insert(words.end(), more.begin(), more.end());
    const auto submitted = daemon.allot(words);
    EXPECT_EQ(submitted.status, (support::ExitStatus{0, 0})) << submitted.err;
    return daemon.task(submitted.out.substr(0, submitted.out.find('\n')))["traceparent"];
  };
  const std::string other = "00-" + kTraceId + "-00000000000000ff-00";
  EXPECT_EQ(trace_of({}), nullptr);
  ::setenv("TRACEPARENT", kParent.c_str(), 1);
  EXPECT_EQ(trace_of({}), kParent);
  EXPECT_EQ(trace_of({"--traceparent", other}), other);
  ::unsetenv("TRACEPARENT");
  EXPECT_EQ(trace_of({"--traceparent", "nonsense"}), nullptr) << "left out, and no error";
  const auto refused = daemon.allot({"submit", "default", "t", "x", "--max-attempts", "0"});
  EXPECT_EQ(refused.status, (support::ExitStatus{65, 0}));
  EXPECT_NE(refused.err.find("'max_attempts' must be a whole number, 1 to 100000"),
            std::string::npos)
      << refused.err;
}

}  // namespace
}  // namespace allot::e2e::trace_test

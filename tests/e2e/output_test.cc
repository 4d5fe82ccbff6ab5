// SPDX-License-Identifier: Apache-2.0
// Output of the daemon: logs for machines.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "e2e/daemon.h"

namespace allot::e2e::output_test {
namespace {

using nlohmann::json;
using support::eventually;

void append(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text;
}

// A crash, its settler, a refused reload, a good one, and the stop: each process writes lines.
TEST(Output, AJsonLogIsOneObjectALine) {
  Daemon daemon({.queue_keys = "max_attempts = 2", .log_format = "json"});
  (void)daemon.submit("test.crash", "segv");
  (void)daemon.submit("test.retry", "a \"b\"\n\x1b \xff");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 2; })) << daemon.log();
  // Four workers and the steward. The replacement of the second crashed worker reads the file as
  // well, so it has to be ready before the file is broken.
  ASSERT_TRUE(eventually([&] {
    return daemon.times_logged(R"("program":"supervisor","event":"worker.ready")") == 5 &&
           daemon.times_logged(R"("event":"worker.settled")") == 2;
  })) << daemon.log();
  const std::string good = support::read_file(daemon.config_file());
  append(daemon.config_file(), "[nonsense]\n[rubbish]\n");
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("\"event\":\"reload.refused\""); }))
      << daemon.log();
  std::ofstream(daemon.config_file()) << good;
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.logged("\"event\":\"pool.reload\""); }))
      << daemon.log();
  daemon.process().signal(SIGUSR2);
  // The line of the first start was text, before the configuration was read.
  ASSERT_TRUE(eventually([&] { return daemon.logged("\"event\":\"supervisor.start\""); }))
      << daemon.log();
  EXPECT_EQ(daemon.stop()->code, 0);

  std::set<std::string> events;
  std::istringstream lines(support::read_file(daemon.folder() + "/log"));
  for (std::string line; std::getline(lines, line);) {
    const json object = json::parse(line, nullptr, false);
    ASSERT_TRUE(object.is_object()) << line;
    for (const char* key : {"time", "level", "program", "event"}) {
      EXPECT_TRUE(object.contains(key) && object.at(key).is_string()) << line;
    }
    events.insert(object.at("program").get<std::string>() + " " +
                  object.at("event").get<std::string>());
    if (object.at("event") == "worker.died" && object.contains("task_type")) {
      EXPECT_EQ(object.at("signal"), SIGSEGV) << line;
      EXPECT_EQ(object.at("task_type"), "test.crash") << line;
    }
    if (object.at("event") == "task.retry") {
      EXPECT_EQ(object.at("error"), "a \"b\"") << line;
      EXPECT_EQ(object.at("detail"), "a \"b\"\n\x1b \xef\xbf\xbd") << line;
    }
  }
  for (const char* event :
       {"supervisor worker.died", "worker task.crashed", "worker worker.settled",
        "worker task.retry", "worker task.dead", "worker worker.failed",
        "supervisor reload.refused", "supervisor pool.reload", "worker worker.stopped",
        "supervisor supervisor.exit"}) {
    EXPECT_EQ(events.count(event), 1U) << event;
  }
}

TEST(Output, ALogForTheJournalHasAPriorityInFrontOfEachLine) {
  Daemon daemon({.log_format = "journald"});
  (void)daemon.submit("test.crash", "segv");
  ASSERT_TRUE(eventually([&] { return daemon.logged(" worker.settled "); })) << daemon.log();
  EXPECT_EQ(daemon.stop()->code, 0);
  std::istringstream lines(support::read_file(daemon.folder() + "/log"));
  std::set<std::string> heads;
  const std::regex head("(<[3467]>)(supervisor|worker) [a-z_.]+( .*)?");
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    ASSERT_TRUE(std::regex_match(line, found, head)) << line;
    heads.insert(found[1].str() + found[2].str());
  }
  for (const char* one : {"<6>supervisor", "<4>supervisor", "<6>worker", "<7>worker"}) {
    EXPECT_EQ(heads.count(one), 1U) << one << daemon.log();
  }
}

}  // namespace
}  // namespace allot::e2e::output_test

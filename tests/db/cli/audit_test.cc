// SPDX-License-Identifier: Apache-2.0
// Every command that operates leaves an entry of the audit (S89), and allot audit lists them.
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "db/cli/fixture.h"
#include "queue/locks/lock_store.h"
#include "queue/model/catalog.h"

namespace allot::cli {
namespace {

using nlohmann::json;

// Commands that do not operate: they read, submit, or concern a host or the schema. A new command
// belongs here, or in the table of commands below.
const std::set<std::string> kOthers{
    "submit",        "tasks",         "task show",     "task find", "history",    "dead list",
    "dead groups",   "bulk list",     "bulk show",     "audit",     "queue list", "route list",
    "schedule list", "schedule show", "schedule next", "lock run",  "lock list",  "lock show",
    "why",           "doctor",        "top",           "drain",     "plugin new", "plugin check",
    "status",        "minutes",       "failures",      "metrics",   "migrate",    "grants",
    "promote",       "reload",        "plugins",       "config",    "check",      "gateway token",
    "gateway code"};

std::string help_of(const std::string& path) {
  Words words{ALLOT_PROGRAM};
  std::istringstream parts(path);
  for (std::string part; parts >> part;) words.push_back(part);
  words.emplace_back("--help");
  return support::run_program(words).out;
}

// Commands without subcommands, each with whether it takes a reason.
std::map<std::string, bool> leaves(const std::string& path = {}) {
  std::map<std::string, bool> all;
  const std::string help = help_of(path);
  const std::size_t below = help.find("Subcommands:");
  if (below == std::string::npos) {
    all[path] = help.find("--reason") != std::string::npos;
    return all;
  }
  std::istringstream lines(help.substr(below));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, std::regex("^  ([a-z][a-z-]*)"))) continue;
    if (path.empty() && found[1] == "bench") continue;  // words of another program
    all.merge(leaves((path.empty() ? "" : path + " ") + found[1].str()));
  }
  return all;
}

class AuditTest : public CliTest {
 protected:
  AuditTest() {
    must({"migrate"});
    queue::ensure_lock(observer_, "billing", 2);
    queue::ensure_queue(observer_, "some", {4, queue::Placement::kLimited, 3});
  }

  std::string put() {
    std::string id = must({"submit", "default", "t", "x"});
    id.pop_back();
    return id;
  }
  std::string put_dead() {
    const std::string id = put();
    must({"task", "cancel", id});
    return id;
  }
  std::string open_bulk() {
    put_dead();
    return json::parse(must(
        {"dead", "retry", "--queue", "default", "--all", "--yes", "--no-wait", "--json"}))["action"]
        .dump();
  }
  Words schedule(const std::string& name) {
    must({"schedule", "add", name, "0 3 * * *", "default", "t"});
    return {name};
  }
  Words held_lock() {
    observer_.execute(
        "UPDATE named_lock SET state = 'LOCKED', lock_by = 1, lock_host = 'h', lock_pid = 1,"
        " taken_at = UTC_TIMESTAMP(6), expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    return {"billing", "--yes"};
  }

  // Arguments for each command that operates, after preparing a state in which it succeeds.
  using Ready = std::function<Words()>;
  static Ready words(Words fixed) {
    return [fixed = std::move(fixed)] { return fixed; };
  }
  std::map<std::string, Ready> operating() {
    const std::string file = folder_.write(
        "schedules.toml",
        "[schedules.applied]\nexpression = \"@daily\"\nqueue = \"default\"\ntype = \"t\"\n");
    const std::string crontab = folder_.write("crontab", "0 3 * * * true\n");
    return {
        {"task cancel", [this] { return Words{put()}; }},
        {"dead retry", [this] { return Words{put_dead()}; }},
        {"dead discard", [this] { return Words{put_dead()}; }},
        {"bulk stop", [this] { return Words{open_bulk()}; }},
        {"queue pause", words({"wide"})},
        {"queue resume",
         [this] {
           must({"queue", "pause", "wide"});
           return Words{"wide"};
         }},
        {"queue rate", words({"wide", "--per-second", "5"})},
        {"queue cap", words({"wide", "3"})},
        {"queue resize", words({"wide", "9"})},
        {"queue max-running", words({"some", "2"})},
        {"queue move",
         [this] {
           put();
           return Words{"default", "wide", "--yes"};
         }},
        {"route set", words({"report.x", "wide", "--from", "default"})},
        {"route remove",
         [this] {
           must({"route", "set", "mail.*", "wide", "--from", "default"});
           return Words{"mail.*", "--from", "default"};
         }},
        {"schedule add", words({"one", "@daily", "default", "t"})},
        {"schedule apply", words({file})},
        {"schedule import-crontab", words({crontab, "--zone", "UTC"})},
        {"schedule pause", [this] { return schedule("to-pause"); }},
        {"schedule resume",
         [this] {
           schedule("to-resume");
           must({"schedule", "pause", "to-resume"});
           return Words{"to-resume"};
         }},
        {"schedule run-now", [this] { return schedule("to-run"); }},
        {"schedule remove",
         [this] {
           schedule("to-remove");
           return Words{"to-remove", "--yes"};
         }},
        {"lock break", [this] { return held_lock(); }},
        {"lock resize", words({"billing", "3"})},
    };
  }
};

TEST_F(AuditTest, EveryCommandThatOperatesLeavesAnEntry) {
  const auto table = operating();
  for (const auto& [command, has_reason] : leaves()) {
    const auto ready = table.find(command);
    EXPECT_EQ(has_reason, ready != table.end()) << "allot " << command;
    EXPECT_NE(ready != table.end(), kOthers.contains(command))
        << "allot " << command << " belongs into operating(), or into kOthers";
    if (ready == table.end()) continue;
    Words words;
    std::istringstream parts(command);
    for (std::string part; parts >> part;) words.push_back(part);
    const Words rest = ready->second();
    words.insert(words.end(), rest.begin(), rest.end());
    words.insert(words.end(), {"--reason", "for " + command});
    const std::uint64_t before = count("audit");
    must(words);
    EXPECT_GT(count("audit"), before) << "allot " << command << " leaves no entry";
    const std::string newest = " FROM audit ORDER BY audit_id DESC LIMIT 1";
    EXPECT_EQ(value("SELECT reason" + newest), "for " + command);
    EXPECT_EQ(value("SELECT source" + newest), "cli") << command;
    EXPECT_NE(value("SELECT actor" + newest).find('@'), std::string::npos) << command;
  }
}

TEST_F(AuditTest, ListsTheNewestFirst) {
  must({"queue", "pause", "wide", "--reason", "an upgrade"});
  must({"queue", "resume", "wide"});
  const json all = json::parse(must({"audit", "--json"}));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["action"], "resume");
  EXPECT_EQ(all[1]["reason"], "an upgrade");
  const std::string text = must({"audit", "--action", "pause"});
  EXPECT_TRUE(has(text, "queue wide"));
  EXPECT_TRUE(has(text, "an upgrade"));
  EXPECT_FALSE(text.find("resume") != std::string::npos) << text;
  EXPECT_EQ(json::parse(must({"audit", "--json", "--limit", "1"})).size(), 1U);
  EXPECT_EQ(json::parse(must({"audit", "--json", "--queue", "default"})).size(), 0U);
  EXPECT_EQ(json::parse(must({"audit", "--json", "--subject", "queue", "--name", "wide"})).size(),
            2U);
}

TEST_F(AuditTest, AReasonHasAtMost255Bytes) {
  const auto refused = allot({"queue", "resume", "wide", "--reason", std::string(256, 'r')});
  EXPECT_EQ(refused.status.code, 65);
  EXPECT_TRUE(has(refused.err, "--reason has 256 bytes"));
}

}  // namespace
}  // namespace allot::cli

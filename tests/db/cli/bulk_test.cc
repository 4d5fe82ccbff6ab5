// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/exit_codes.h"
#include "db/cli/fixture.h"
#include "queue/model/task.h"
#include "support/terminal.h"

namespace allot::cli {
namespace {

class BulkTest : public CliTest {
 protected:
  // The payloads of numbered lines, in the order of their numbers.
  std::vector<int> numbers() {
    std::vector<int> all;
    for (const std::string& payload : payloads()) all.push_back(std::stoi(payload));
    std::sort(all.begin(), all.end());
    return all;
  }
  static std::vector<int> up_to(int last) {
    std::vector<int> all;
    for (int i = 1; i <= last; ++i) all.push_back(i);
    return all;
  }
};

TEST_F(BulkTest, EveryLineOnceWithASummary) {
  const std::string file = folder_.write("tasks", numbered(1, 2500, "wide"));
  const auto done = allot({"submit", "--ndjson", file});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0}));
  EXPECT_EQ(done.err, "submitted 2500 tasks in 3 batches\n");
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(numbers(), up_to(2500));
  EXPECT_EQ(value("SELECT COUNT(DISTINCT partition_no) FROM task"), "8");
}

TEST_F(BulkTest, AsJson) {
  const auto report = nlohmann::json::parse(
      must({"submit", "--ndjson", "-", "--json", "--batch", "10"}, numbered(1, 25)));
  EXPECT_EQ(report, nlohmann::json::parse(R"({"ok": true, "exit_code": 0, "error": null,
      "tasks": 25, "existed": 0, "states": {}, "batches": 3, "next_line": null, "unknown_lines": null})"));
  const auto broken = allot_with({"submit", "--ndjson", "-", "--json", "--batch", "10"},
                                 numbered(1, 15) + "rubbish\n");
  EXPECT_EQ(broken.status.code, kExitBadInput);
  const auto told = nlohmann::json::parse(broken.out);
  EXPECT_EQ(told.at("ok"), false);
  EXPECT_EQ(told.at("exit_code"), kExitBadInput);
  EXPECT_EQ(told.at("tasks"), 10);
  EXPECT_EQ(told.at("next_line"), 11);
  EXPECT_EQ("allot: " + told.at("error").get<std::string>() + "\n", broken.err);
}

TEST_F(BulkTest, TakenKeysAreCountedByWhereTheirTasksAre) {
  const auto line = [](const std::string& key) {
    return R"({"queue":"default","type":"t","unique_key":")" + key + "\"}\n";
  };
  must({"submit", "--ndjson", "-"}, line("done"));
  observer_.execute(
      "DELETE FROM task; UPDATE task_unique SET free_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  const std::string lines = line("done") + line("a") + line("b");
  must({"submit", "--ndjson", "-"}, lines);
  const auto report = nlohmann::json::parse(must({"submit", "--ndjson", "-", "--json"}, lines));
  EXPECT_EQ(report.at("existed"), 3);
  EXPECT_EQ(report.at("states"), (nlohmann::json{{"done", 1}, {"waiting", 2}}));
  EXPECT_EQ(allot_with({"submit", "--ndjson", "-"}, lines).err,
            "submitted 0 tasks in 1 batches; 3 more existed (1 done, 2 waiting)\n");
}

TEST_F(BulkTest, ABarOnATerminalThatIsGoneAtTheEnd) {
  const std::string file = folder_.write("tasks", numbered(1, 3000, "wide"));
  const Words words{ALLOT_PROGRAM, "--config", config(),  "submit",
                    "--ndjson",    file,       "--batch", "10"};
  support::Terminal terminal;
  EXPECT_EQ(terminal.run(words, {}, {STDERR_FILENO}).status.code, 0);
  EXPECT_TRUE(has(terminal.written(), "\r[>"));
  EXPECT_TRUE(has(terminal.written(), " tasks  "));
  EXPECT_EQ(terminal.seen(), Words{"submitted 3000 tasks in 300 batches"});
  // A failure is also shown.
  support::Terminal other;
  (void)folder_.write("tasks", numbered(1, 100, "wide") + "rubbish\n");
  EXPECT_EQ(other.run(words, {{"NO_COLOR=1"}}, {STDERR_FILENO}).status.code, kExitBadInput);
  EXPECT_TRUE(has(other.written(), "\r["));
  ASSERT_EQ(other.seen().size(), 1U);
  EXPECT_EQ(other.seen().front().rfind("allot: ", 0), 0U) << other.written();
}

TEST_F(BulkTest, NoBarWhereIdsAreShownOrItCannotBeDrawn) {
  const std::string file = folder_.write("tasks", numbered(1, 20));
  Words words{ALLOT_PROGRAM, "--config", config(), "submit", "--ndjson", file, "--batch", "10"};
  support::Terminal dumb;
  dumb.run(words, {{"TERM=dumb"}}, {STDERR_FILENO});
  EXPECT_EQ(dumb.written(), "submitted 20 tasks in 2 batches\n");
  words.emplace_back("--ids");
  support::Terminal ids;
  ids.run(words, {}, {STDOUT_FILENO, STDERR_FILENO});
  EXPECT_EQ(ids.written().find('\r'), std::string::npos);
}

TEST_F(BulkTest, IdsInTheOrderOfTheLines) {
  std::istringstream ids(
      must({"submit", "--ndjson", "-", "--ids", "--batch", "7"}, numbered(1, 20, "wide")));
  int line = 0;
  for (std::string id; std::getline(ids, id);) {
    EXPECT_EQ(must({"task", "show", id, "--payload"}), std::to_string(++line));
  }
  EXPECT_EQ(line, 20);
}

TEST_F(BulkTest, QueuesTypesAndClassesMayDiffer) {
  must({"submit", "--ndjson", "-"},
       R"({"queue":"default","type":"a","payload":"1","prio":0})"
       "\n"
       R"({"queue":"wide","type":"b.c","payload":{"x": [1, 2]},"prio":3})"
       "\n"
       R"({"queue":"default","type":"d-e"})");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(CONCAT_WS('|', name, type, prio, payload) ORDER BY type)"
                  " FROM task JOIN queue USING (queue_id)"),
            R"(default|a|0|1,wide|b.c|3|{"x":[1,2]},default|d-e|1|)");
}

TEST_F(BulkTest, EmptyLinesAreSkippedAndCounted) {
  const auto done = allot_with({"submit", "--ndjson", "-"},
                               "\n" + numbered(1, 1) + " \t\r\n\n" + numbered(2, 2) + "\nnope");
  EXPECT_EQ(done.status.code, kExitBadInput);
  EXPECT_TRUE(has(done.err, "allot: stdin:7: not JSON"));
  EXPECT_EQ(allot_with({"submit", "--ndjson", "-"}, "").err, "submitted 0 tasks in 0 batches\n");
}

struct BrokenLine {
  std::string text;
  std::string why;
};

TEST_F(BulkTest, ABrokenLineInTheMiddleKeepsItsBatchOut) {
  const std::string large(std::size_t{16} << 20, 'x');
  const BrokenLine broken[] = {
      {"{\"queue\":", "not JSON"},
      {"{}", "'type' is missing"},
      {R"({"type":"t"})", "no queue is given"},
      {R"({"queue":"default","type":"t","delays":"1s"})", "unknown field 'delays'"},
      {R"({"queue":"default","type":"no good"})", "type 'no good'"},
      {R"({"queue":"nope","type":"t"})", "queue 'nope' does not exist"},
      {R"({"queue":"default","type":"t","prio":4})", "'prio'"},
      {"{\"queue\":\"default\",\"type\":\"t\",\"payload\":\"\xff\"}", "not JSON"},
      {R"({"queue":"default","type":"t","payload":")" + large + "\"}", "16 MiB"},
  };
  for (const BrokenLine& line : broken) {
    observer_.execute("DELETE FROM task");
    const std::string file =
        folder_.write("tasks", numbered(1, 24, "wide") + line.text + "\n" + numbered(26, 40));
    const auto done = allot({"submit", "--ndjson", file, "--batch", "10"});
    EXPECT_EQ(done.status, (support::ExitStatus{kExitBadInput, 0})) << done.err;
    EXPECT_EQ(done.err.rfind("allot: " + file + ":25: ", 0), 0U) << done.err;
    EXPECT_TRUE(has(done.err, line.why));
    EXPECT_TRUE(has(done.err,
                    "; lines 1 to 20 submitted (20 tasks), nothing from line 21 on; "
                    "fix the line; continue with --from-line 21\n"));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_EQ(numbers(), up_to(20));

    const std::string fixed = folder_.write("fixed", numbered(1, 40, "wide"));
    must({"submit", "--ndjson", fixed, "--from-line", "21"});
    EXPECT_EQ(numbers(), up_to(40)) << "each once";
  }
}

TEST_F(BulkTest, ABrokenFirstBatchLeavesNothing) {
  const auto done = allot_with({"submit", "--ndjson", "-"}, numbered(1, 5) + "nope\n");
  EXPECT_EQ(done.status.code, kExitBadInput);
  EXPECT_TRUE(has(done.err, "stdin:6: not JSON"));
  EXPECT_TRUE(
      has(done.err, "; nothing was submitted; fix the line; continue with --from-line 1\n"));
  EXPECT_EQ(count("task"), 0U);
}

TEST_F(BulkTest, UnreadableLineIsNotSubmitted) {
  EXPECT_EQ(allot({"submit", "--ndjson", folder_ / "missing"}).status.code, kExitNoInput);
  const auto folder = allot({"submit", "--ndjson", folder_.path()});
  EXPECT_EQ(folder.status.code, kExitNoInput);
  EXPECT_TRUE(has(folder.err, "Is a directory; nothing was submitted"));
  // The test closes it; the database connection must not get its number.
  const auto closed = support::run_program({"sh", "-c", "exec \"$@\" <&-", "sh", ALLOT_PROGRAM,
                                            "--config", config(), "submit", "--ndjson", "-"});
  EXPECT_EQ(closed.status.code, kExitNoInput) << closed.err;
  EXPECT_TRUE(has(closed.err, "stdin: cannot be read: Bad file descriptor"));
}

// The memory never holds a thousand payloads of 16 MiB at once.
TEST_F(BulkTest, ABatchIsBoundedInBytesToo) {
  const std::string payload(std::size_t{9} << 20, 'x');
  std::string lines;
  for (int i = 0; i < 3; ++i) {
    lines += R"({"queue":"wide","type":"t","payload":")" + payload + "\"}\n";
  }
  const auto done = allot_with({"submit", "--ndjson", "-"}, lines + numbered(1, 3, "wide"));
  EXPECT_EQ(done.err, "submitted 6 tasks in 2 batches\n");
  EXPECT_EQ(
      value("SELECT COUNT(*) FROM task WHERE LENGTH(payload) = " + std::to_string(payload.size())),
      "3");
}

TEST_F(BulkTest, TasksAreSubmittedEvenIfTheIdsAreNotRead) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const UniqueFd nobody_reads(ends[1]);
  const auto done = allot({"submit", "--ndjson", "-", "--ids", "--batch", "10"},
                          {.input = numbered(1, 100), .descriptors = {{nobody_reads.get(), 1}}});
  EXPECT_EQ(done.status, (support::ExitStatus{kExitFailure, 0})) << "no SIGPIPE";
  EXPECT_TRUE(has(done.err, "submitted 100 tasks in 10 batches"));
  EXPECT_TRUE(has(done.err, "writing its output failed"));
  EXPECT_EQ(numbers(), up_to(100));
}

}  // namespace
}  // namespace allot::cli

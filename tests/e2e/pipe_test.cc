// SPDX-License-Identifier: Apache-2.0
// Programs that stay, under real workers.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "e2e/daemon.h"

namespace allot::e2e::pipe_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;

const std::string kHelpers = ALLOT_SOURCE_DIR "/plugins/pipe/helpers";

class PipeTest : public testing::Test {
 protected:
  PipeTest() { fs::copy_file(ALLOT_PIPE_PLUGIN, plugins_ / "pipe.so"); }
  // [plugins.pipe.types.NAME] with a script in Python.
  std::string type(const std::string& name, const std::string& script,
                   const std::string& keys = {}) const {
    const std::string file =
        work_.write(name + ".py", "import allot_pipe, os, sys, time\n" + script);
    return "[plugins.pipe.types.\"" + name + "\"]\ncommand = [\"/usr/bin/python3\", \"" + file +
           "\"]\nenvironment = { PYTHONPATH = \"" + kHelpers + "\", WORK = \"" + work_.path() +
           "\", PYTHONDONTWRITEBYTECODE = \"1\" }\n" + keys;
  }
  [[nodiscard]] DaemonOptions options(const std::string& types, unsigned workers = 1) const {
    return {.workers = workers, .more = types, .plugins = plugins_.path()};
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return support::read_file(work_ / name);
  }

  support::TempDir plugins_;
  support::TempDir work_;
};

constexpr const char* kAppend = R"py(
def append(line):
    with open(os.environ["WORK"] + "/lines", "a") as lines:
        lines.write(line + "\n")
)py";

TEST_F(PipeTest, OneProgramServesManyTasksByItsVerdicts) {
  Daemon daemon(options(type("p.word", std::string(kAppend) + R"py(
def handle(task):
    append("%d %s" % (os.getpid(), task.payload))
    if task.payload == "bad":
        return allot_pipe.fail("what is wrong")
    if task.payload == "later" and task.attempt == 1:
        return allot_pipe.retry("not yet", delay=0)
allot_pipe.run(handle)
)py")));
  const auto bad = daemon.submit("p.word", "bad");
  (void)daemon.submit("p.word", "later");
  (void)daemon.submit("p.word", "good");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto lines = support::read_lines(work_ / "lines");
  ASSERT_EQ(lines.size(), 4U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.substr(0, line.find(' ')), lines[0].substr(0, lines[0].find(' ')));
  }
  EXPECT_EQ(daemon.count("task_dead"), 1U);
  EXPECT_NE(daemon.allot({"task", "show", bad}).out.find("what is wrong"), std::string::npos);
}

}  // namespace
}  // namespace allot::e2e::pipe_test

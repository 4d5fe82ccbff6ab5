// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/exit_codes.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "support/process.h"

namespace allot::cli {
namespace {

using Words = std::vector<std::string>;

support::Finished allot(Words words, const support::ProcessOptions& options = {}) {
  words.insert(words.begin(), ALLOT_PROGRAM);
  return support::run_program(std::move(words), options);
}

TEST(Usage, WrongCommandLinesAreOneLineAndExitCode64) {
  const Words cases[] = {{},
                         {"stauts"},
                         {"--nope"},
                         {"submit"},
                         {"submit", "q"},
                         {"submit", "--ndjson", ""},
                         {"submit", "q", "t", "p", "more"},
                         {"submit", "q", "t", "--prio", "4"},
                         {"submit", "q", "t", "--prio", "-1"},
                         {"submit", "q", "t", "--prio", "x"},
                         {"submit", "q", "t", "p", "--file", "f"},
                         {"submit", "q", "t", "--ndjson", "f"},
                         {"submit", "--ndjson", "f", "--prio", "1"},
                         {"submit", "--ndjson", "f", "--batch", "0"},
                         {"submit", "--ndjson", "f", "--from-line", "0"},
                         {"submit", "q", "t", "--batch", "5"},
                         {"submit", "q", "t", "--ids"},
                         {"submit", "q", "t", "--confg", "x"},
                         {"submit", "q", "t", "--config"},
                         {"tasks", "--limit", "0"},
                         {"tasks", "x"},
                         {"task"},
                         {"task", "show"},
                         {"task", "shwo", "x"},
                         {"task", "show", "not-an-id"},
                         {"task", "show", "0840dqg2v5n80r00", "--json", "--payload"},
                         {"tasks", "--dead"},
                         {"task", "cancel"},
                         {"task", "cancel", "not-an-id"},
                         {"why"},
                         {"why", "not-an-id"},
                         {"queue"},
                         {"queue", "pause"},
                         {"dead", "retry"},
                         {"dead", "retry", "--all"},
                         {"dead", "list", "--limit", "0"},
                         {"dead", "discard", "--group", "g", "--rate", "-1"},
                         {"status", "x"},
                         {"plugin"},
                         {"plugin", "nwe"},
                         {"plugin", "new"},
                         {"plugin", "check"},
                         {"plugin", "new", ""},
                         {"plugin", "new", "Upper"},
                         {"plugin", "new", "2nd"},
                         {"plugin", "new", "mail.send"},
                         {"plugin", "new", "../up"},
                         {"plugin", "new", "test"},
                         {"plugin", "new", std::string(64, 'x')}};
  for (const Words& words : cases) {
    const auto done = allot(words);
    const std::string shown = testing::PrintToString(words) + ": " + done.err;
    EXPECT_EQ(done.status, (support::ExitStatus{kExitUsage, 0})) << shown;
    EXPECT_EQ(done.out, "") << shown;
    EXPECT_EQ(done.err.rfind("allot: ", 0), 0U) << shown;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << shown;
  }
}

TEST(Usage, AMistypedCommandIsRecognised) {
  EXPECT_EQ(allot({"stauts"}).err,
            "allot: 'stauts' is not a command; did you mean 'status'? (see allot --help)\n");
}

TEST(Usage, VersionAndHelp) {
  EXPECT_EQ(allot({"--version"}).out, std::string(kVersionMark) + "\n");
  for (const Words& words :
       {Words{"--help"}, Words{"submit", "--help"}, Words{"task", "show", "--help"}}) {
    const auto done = allot(words);
    EXPECT_EQ(done.status.code, kExitOk);
    EXPECT_EQ(done.err, "");
    EXPECT_NE(done.out.find("Usage: allot"), std::string::npos) << done.out;
  }
}

// Before or after the command, or in the environment, which has the lowest priority.
TEST(Usage, TheConfigurationIsNamedThreeWays) {
  const support::TempDir folder;
  const std::string bad = folder.write("bad.toml", "[daemon]\nnope = 1\nnix = 2\n");
  const support::ProcessOptions from_environment{.environment = {"ALLOT_CONFIG=" + bad}};
  const auto before = allot({"--config", bad, "status"});
  const auto after = allot({"task", "show", "0840dqg2v5n80r00", "--config", bad});
  const auto environment = allot({"migrate"}, from_environment);
  for (const auto* done : {&before, &after, &environment}) {
    EXPECT_EQ(done->status.code, kExitConfig) << done->err;
    EXPECT_NE(done->err.find(bad + ":2: "), std::string::npos) << done->err;
    EXPECT_NE(done->err.find("\nallot: " + bad + ":3: "), std::string::npos) << done->err;
  }
  const std::string good = folder.write("good.toml", "[database]\nsocket = \"nowhere\"\n");
  EXPECT_EQ(allot({"tasks", "--config", good}, from_environment).status.code, kExitUnavailable);
}

TEST(Usage, OutputThatIsLostIsSaid) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const auto done = allot({"--version"}, {.descriptors = {{full.get(), 1}}});
  EXPECT_EQ(done.status.code, kExitFailure);
  EXPECT_NE(done.err.find("No space left on device"), std::string::npos) << done.err;
}

TEST(Usage, AClosedPipeIsNotADeath) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const UniqueFd nobody_reads(ends[1]);
  const auto done = allot({"--help"}, {.descriptors = {{nobody_reads.get(), 1}}});
  EXPECT_EQ(done.status, (support::ExitStatus{kExitFailure, 0}));
  EXPECT_NE(done.err.find("Broken pipe"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace allot::cli

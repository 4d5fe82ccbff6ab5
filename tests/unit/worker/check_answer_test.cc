// SPDX-License-Identifier: Apache-2.0
// The child that checks a configuration, as the supervisor starts it: its answer is all that the
// supervisor knows of the configuration (S26).
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"
#include "ipc/preflight.h"
#include "ipc/slot.h"
#include "support/process.h"

namespace allot::worker {
namespace {

ipc::PreflightAnswer answer_to(const std::string& daemon) {
  const support::TempDir folder;
  const std::string file =
      folder.write("allot.toml", "[database]\nsocket = \"/nowhere\"\n[daemon]\nruntime_dir = \"" +
                                     folder.path() + "\"\n" + daemon + "[plugins]\nfolder = \"" +
                                     folder.path() + "\"\n[queues.q]\n");
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const auto done = support::run_program(
      {ALLOT_WORKER, "--check", "config", "--log-format", "text", "--config", file},
      {.descriptors = {{write_end.get(), ipc::kAnswerFd}}});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  write_end.reset();
  ipc::PreflightAnswer answer{};
  EXPECT_EQ(::read(read_end.get(), &answer, sizeof answer), ssize_t{sizeof answer});
  return answer;
}

// S27: two thirds of the lease, and 20 s at most.
TEST(CheckAnswer, SaysWhenAWorkerIsTakenForFrozen) {
  EXPECT_EQ(answer_to("lease_ttl = \"6s\"\n").frozen_ms, 4'000U);
  EXPECT_EQ(answer_to("lease_ttl = \"5m\"\n").frozen_ms, 20'000U);
}

TEST(CheckAnswer, SaysHowManyWorkersThereAreAndHowLongTheyMayTakeToStop) {
  const auto answer = answer_to("stop_timeout = \"7s\"\n[pools.default]\nsize = 3\n");
  EXPECT_EQ(answer.stop_ms, 7'000U);
  EXPECT_EQ(ipc::worker_count(answer), 4U) << "and the steward";
}

}  // namespace
}  // namespace allot::worker

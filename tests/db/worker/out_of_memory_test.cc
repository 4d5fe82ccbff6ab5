// SPDX-License-Identifier: Apache-2.0
// D9: a worker killed by the kernel's out-of-memory killer. The counter file is made up here; the
// process and its death are real. With a real cgroup: e2e_cgroup_limit.
#include <sys/wait.h>
#include <unistd.h>

#include "db/worker/settle_fixture.h"
#include "process/cgroup_limits.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::worker {
namespace {

// Wait status of a killed process.
int killed_process() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  support::send_signal(pid, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

class OutOfMemoryTest : public SettleTest {
 protected:
  OutOfMemoryTest() {
    (void)cgroup_.write("memory.max", "268435456\n");
    (void)cgroup_.write("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n");
  }
  [[nodiscard]] std::string told() const { return process::out_of_memory(cgroup_.path()); }
  // Record of the only attempt.
  std::string written() {
    return value("SELECT CONCAT(attempt, ' ', cause, ' ', error) FROM task_attempt");
  }

  support::TempDir cgroup_;
};

constexpr const char* kWritten =
    "1 memory out of memory: over the limit of its pool (cgroup_memory = 256); killed by the kernel"
    " inside the handler";

TEST_F(OutOfMemoryTest, IsTheCauseAndTheTaskPays) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  settle_out_of_memory(told(), killed_process());
  EXPECT_EQ(written(), kWritten);
  EXPECT_EQ(value("SELECT attempt FROM task"), "1");
  EXPECT_EQ(state(0), "FREE");
}

TEST_F(OutOfMemoryTest, TheLastAttemptBuries) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 1, 0, 0);
  settle_out_of_memory(told(), killed_process());
  EXPECT_EQ(value("SELECT CONCAT(attempt, ' ', cause, ' ', error) FROM task_dead"), kWritten);
}

// The kernel may have killed a child of the worker, and a time limit the worker.
TEST_F(OutOfMemoryTest, IsNotSaidOfAnotherEnd) {
  put(partition(0), {1, 1});
  const auto block = lease(0);
  begin_run(slot_, block.tasks[0], 1, 10, 0, 0);
  settle_out_of_memory(told(), SIGSEGV);
  EXPECT_EQ(written().substr(0, 9), "1 signal ");
}

}  // namespace
}  // namespace allot::worker

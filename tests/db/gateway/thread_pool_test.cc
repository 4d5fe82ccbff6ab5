// SPDX-License-Identifier: Apache-2.0
// Threads of the gateway on a host that has few left.
#include "gateway/work/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "base/error.h"

namespace allot::gateway::work {
namespace {

constexpr uid_t kNobody = 54'321;  // an account whose processes are not counted elsewhere
constexpr int kOne = 10;
constexpr int kNone = 11;

// Runs in a process of an account with this limit of threads, including its own: number of pool
// threads out of eight, once one of them has done a job.
int crew_with(rlim_t threads) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit few{threads, threads};
    if (::setrlimit(RLIMIT_NPROC, &few) != 0 || ::setuid(kNobody) != 0) ::_exit(1);
    try {
      db::ConnectOptions nowhere;
      nowhere.socket = "/nonexistent";
      ThreadPool pool(nowhere, 8, 10);
      std::promise<void> done;
      const bool taken = pool.post({.alone = [&] { done.set_value(); }});
      const bool ran = taken && done.get_future().wait_for(std::chrono::seconds(20)) ==
                                    std::future_status::ready;
      ::_exit(ran && pool.threads() == 1 ? kOne : 1);
    } catch (const Error&) {
      ::_exit(kNone);
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(ThreadPoolTest, FewThreadsAreEnoughAndNoneIsAnError) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own";
#endif
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become an account without processes";
  EXPECT_EQ(crew_with(2), kOne);
  EXPECT_EQ(crew_with(1), kNone);
}

}  // namespace
}  // namespace allot::gateway::work

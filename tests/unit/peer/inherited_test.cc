// SPDX-License-Identifier: Apache-2.0
// Rule: S21.
#include "peer/inherited.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/slot.h"

namespace allot::peer {
namespace {

// The notes belong to the whole process, so each case runs in a child process.
template <typename Case>
int exit_code_of(const Case& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (int fd = ipc::kSlotFd; fd <= ipc::kLastFd; ++fd) close(fd);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Inherited, KnowsWhatWasPassedOnAndClosesItOnExec) {
  EXPECT_EQ(exit_code_of([] {
              dup2(STDIN_FILENO, ipc::kDeathFd);
              note_inherited();
              if (!inherited(ipc::kDeathFd)) return 1;
              if (inherited(ipc::kAnswerFd) || inherited(ipc::kSlotFd) || inherited(STDIN_FILENO))
                return 2;
              return fcntl(ipc::kDeathFd, F_GETFD) == FD_CLOEXEC ? 0 : 3;
            }),
            0);
}

TEST(Inherited, DescriptorsOfAShellAreIgnored) {
  EXPECT_EQ(exit_code_of([] {
              dup2(STDIN_FILENO, ipc::kAnswerFd);
              note_inherited();
              forget_inherited();
              if (inherited(ipc::kAnswerFd)) return 1;
              return fcntl(ipc::kAnswerFd, F_GETFD) == FD_CLOEXEC ? 0 : 2;
            }),
            0);
}

// Started by hand, allot-embedded once mistook its own signalfd for the death pipe, and exited.
TEST(Inherited, LaterDescriptorIsNotInherited) {
  EXPECT_EQ(exit_code_of([] {
              note_inherited();
              const int later = open("/dev/null", O_RDONLY | O_CLOEXEC);
              if (later <= ipc::kLastFd) return 1;
              for (int fd = 0; fd <= later; ++fd) {
                if (inherited(fd)) return 2;
              }
              return 0;
            }),
            0);
}

}  // namespace
}  // namespace allot::peer

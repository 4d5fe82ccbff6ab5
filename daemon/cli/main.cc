// SPDX-License-Identifier: Apache-2.0
// allot, the command line, as a process: its streams and its signals. cli/run.h is the rest.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/exit_codes.h"
#include "cli/run.h"

namespace allot::cli {
namespace {

// If our caller closed these descriptors, files that we open must not get their numbers. We open
// them the wrong way around, so that each use fails.
void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

// Poco blocks it where it is loaded. A program that we become would inherit that, and never be
// ended by a reader that goes away.
void unblock_pipe_signal() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &pipe, nullptr);
}

}  // namespace
}  // namespace allot::cli

int main(int argc, char** argv) {
  using namespace allot;
  cli::keep_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  cli::unblock_pipe_signal();
  const int code = cli::run(argc, argv);
  // Output that went to a full disk or a closed pipe was not delivered.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == kExitOk) {
    return cli::report(std::string("it is done, but the output was lost: ") + std::strerror(errno),
                       kExitFailure);
  }
  return code;
}

// SPDX-License-Identifier: Apache-2.0
// Process of the command line `allot`: its streams and signals. Everything else is in cli/run.h.
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

// If the caller closed these descriptors, files that we open must not get their numbers. They are
// opened with the wrong access mode, so that each use fails.
void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

// Poco blocks SIGPIPE when it is loaded. A program that this process executes would inherit the
// mask and survive a reader that closes its pipe.
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
  // Output written to a full disk or a closed pipe was not delivered.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && code == kExitOk) {
    return cli::report(
        std::string("command succeeded, but writing its output failed: ") + std::strerror(errno),
        kExitFailure);
  }
  return code;
}

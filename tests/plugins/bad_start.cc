// SPDX-License-Identifier: Apache-2.0
//
// Ends its process, or never returns: when it is opened (START_LOAD) or when its handler is made
// (START_INIT), as START_HOW says.
#include <signal.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <cstdio>

namespace {

[[maybe_unused]] bool segv() {
  ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit
  ::raise(SIGSEGV);
  return true;
}
[[maybe_unused]] bool leave() {
  std::puts("what a plugin prints is not part of an answer");
  std::fflush(stdout);
  ::_exit(3);
}
// Closes the pipe on which the worker waits for its answer.
[[maybe_unused]] bool hang() {
  ::close_range(3, ~0U, 0);
  for (;;) ::pause();
}
// A child that holds everything open outlives the crash.
[[maybe_unused]] bool fork_and_leave() {
  if (::fork() == 0) {
    for (;;) ::pause();
  }
  ::_exit(4);
}

#ifdef START_LOAD
[[maybe_unused]] const bool loaded = START_LOAD();
#endif

class BadStart : public allot::Handler {
 public:
#ifdef START_INIT
  BadStart() {
    START_INIT();
  }
#endif
  allot::Outcome run(allot::Context&) override {
    return allot::success();
  }
};

ALLOT_HANDLER("test.bad_start", BadStart)

}  // namespace

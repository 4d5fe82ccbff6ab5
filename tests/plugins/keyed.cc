// SPDX-License-Identifier: Apache-2.0
//
// Handlers that show in which order, and how many at a time, the tasks of a key run.
//   [plugins.keyed]
//   output = "FILE"    where a line is appended for each task that is done
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

void append_line(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const std::string line = text + "\n";
  if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("cannot write to " + path);
  }
  ::close(fd);
}

// payload: KEY NUMBER VERB. The first attempt is a retry, a snooze, a release, a failure for good
// or a crash, as VERB says; each other one appends "KEY NUMBER".
class Keyed : public allot::Handler {
 public:
  explicit Keyed(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    std::istringstream words{std::string(ctx.payload())};
    std::string key;
    std::string number;
    std::string verb;
    words >> key >> number >> verb;
    if (ctx.attempt() == 1) {
      if (verb == "retry") return allot::retry("again", std::chrono::milliseconds(300));
      if (verb == "fail") return allot::fail("never");
      if (verb == "crash") ::raise(SIGKILL);
      const bool slipped = ::access((output_ + "." + key + "." + number).c_str(), F_OK) == 0;
      if ((verb == "snooze" || verb == "release") && !slipped) {
        append_line(output_ + "." + key + "." + number, "slipped");
        return verb == "release" ? allot::release("not here")
                                 : allot::snooze(std::chrono::milliseconds(300));
      }
    }
    append_line(output_, key + " " + number);
    return allot::success();
  }

 private:
  std::string output_;
};

// payload: KEY MOST. Takes one of MOST locks of the key for 2 ms; if other handlers have all of
// them it appends "KEY too many". Locks die with their process.
class Counted : public allot::Handler {
 public:
  explicit Counted(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    std::istringstream words{std::string(ctx.payload())};
    std::string key;
    int most = 0;
    words >> key >> most;
    int fd = -1;
    for (int i = 0; i < most && fd < 0; ++i) {
      const std::string file = output_ + "." + key + "." + std::to_string(i);
      fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (fd < 0) throw std::runtime_error("cannot open " + file);
      if (::flock(fd, LOCK_EX | LOCK_NB) == 0) break;
      ::close(fd);
      fd = -1;
    }
    ::poll(nullptr, 0, 2);
    append_line(output_, key + (fd < 0 ? " too many" : " done"));
    if (fd >= 0) ::close(fd);
    return allot::success();
  }

 private:
  std::string output_;
};

ALLOT_HANDLER("test.keyed", Keyed)
ALLOT_HANDLER("test.counted", Counted)

}  // namespace

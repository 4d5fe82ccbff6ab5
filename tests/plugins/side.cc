// SPDX-License-Identifier: Apache-2.0
//
// Handlers for a worker that runs several tasks at a time.
//   [plugins.side]
//   output = "FILE"    where each writes "begin NAME PID ATTEMPT" and "end NAME PID ATTEMPT"
// The payload is "NAME" or "NAME WORD".
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

// One line from "begin" to "end".
class Record {
 public:
  Record(const std::string& output, allot::Context& ctx) : output_(output) {
    std::istringstream words{std::string(ctx.payload())};
    words >> name_ >> word_;
    rest_ = " " + name_ + " " + std::to_string(::getpid()) + " " + std::to_string(ctx.attempt());
    append("begin" + rest_ + "\n");
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() { append("end" + rest_ + "\n"); }
  [[nodiscard]] const std::string& word() const { return word_; }

 private:
  void append(const std::string& line) const {
    const int fd = ::open(output_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const auto written = ::write(fd, line.data(), line.size());
    ::close(fd);
    if (written != static_cast<ssize_t>(line.size())) std::abort();
  }
  const std::string output_;
  std::string name_;
  std::string word_;
  std::string rest_;
};

class Recorded : public allot::Handler {
 public:
  explicit Recorded(const allot::Config& config) : output_(config.get("output")) {}

 protected:
  std::string output_;
};

// WORD: milliseconds. Waits, as for an answer, and asks whether to stop.
class Wait : public Recorded {
 public:
  using Recorded::Recorded;
  static constexpr bool kConcurrent = true;
  allot::Outcome run(allot::Context& ctx) override {
    const Record record(output_, ctx);
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(std::stoi(record.word()));
    std::unique_lock held(mutex_);
    while (std::chrono::steady_clock::now() < until) {
      if (ctx.stop_requested()) return allot::retry("asked to stop");
      answer_.wait_for(held, std::chrono::milliseconds(10));
    }
    return allot::success();
  }

 private:
  std::mutex mutex_;
  std::condition_variable answer_;
};

// The same, in a handler that did not declare that it may run in parallel.
class Serial : public Wait {
 public:
  using Wait::Wait;
  static constexpr bool kConcurrent = false;
};

// WORD: a file. Waits until it is there.
class Gate : public Recorded {
 public:
  using Recorded::Recorded;
  static constexpr bool kConcurrent = true;
  allot::Outcome run(allot::Context& ctx) override {
    const Record record(output_, ctx);
    while (::access(record.word().c_str(), F_OK) != 0) ::poll(nullptr, 0, 5);
    return allot::success();
  }
};

// Ends its worker after WORD milliseconds.
class Poison : public Recorded {
 public:
  using Recorded::Recorded;
  static constexpr bool kConcurrent = true;
  allot::Outcome run(allot::Context& ctx) override {
    const Record record(output_, ctx);
    ::poll(nullptr, 0, std::stoi(record.word()));
    ::raise(SIGKILL);
    return allot::success();
  }
};

// Hangs.
class Hang : public Recorded {
 public:
  using Recorded::Recorded;
  static constexpr bool kConcurrent = true;
  allot::Outcome run(allot::Context& ctx) override {
    const Record record(output_, ctx);
    for (;;) ::poll(nullptr, 0, 1'000);
  }
};

// Ends as WORD says: retry, fail, throw or effect; its writes go with its acknowledgement.
class Verdict : public Recorded {
 public:
  using Recorded::Recorded;
  static constexpr bool kConcurrent = true;
  allot::Outcome run(allot::Context& ctx) override {
    const Record record(output_, ctx);
    ::poll(nullptr, 0, 50);
    if (record.word() == "retry") return allot::retry("again", std::chrono::milliseconds(1));
    if (record.word() == "fail") return allot::fail("never");
    if (record.word() == "throw") throw std::runtime_error("thrown");
    ctx.transaction().execute("INSERT INTO effect (id) VALUES (?)", ctx.id());
    return allot::success();
  }
};

ALLOT_PLUGIN("side", "1.0")
ALLOT_HANDLER("side.wait", Wait)
ALLOT_HANDLER("side.serial", Serial)
ALLOT_HANDLER("side.gate", Gate)
ALLOT_HANDLER("side.poison", Poison)
ALLOT_HANDLER("side.hang", Hang)
ALLOT_HANDLER("side.verdict", Verdict)

}  // namespace

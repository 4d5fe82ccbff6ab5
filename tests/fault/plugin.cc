// SPDX-License-Identifier: Apache-2.0
//
// The handler of the fault harness: says when it starts and when it is about to return.
//   [plugins.fault]
//   output = "FILE"
// payload: TAG MILLISECONDS success|retry|fail|crash|poison|any; retry and crash succeed from their
// second attempt on, poison never does; any is one of the first three, chosen anew for each of the
// first two runs.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <ctime>
#include <random>
#include <sstream>
#include <stdexcept>

namespace {

class Traced : public allot::Handler {
 public:
  explicit Traced(const allot::Config& config)
      : fd_(::open(config.get("output").c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
    if (fd_ < 0) throw std::runtime_error("cannot open " + config.get("output"));
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() override { ::close(fd_); }

  allot::Outcome run(allot::Context& ctx) override {
    std::istringstream payload{std::string(ctx.payload())};
    std::string tag;
    std::string verdict;
    int milliseconds = 0;
    if (!(payload >> tag >> milliseconds >> verdict)) return allot::fail("no such payload");
    const off_t place = place_of(tag);
    trace(lock(place, F_WRLCK) ? "start" : "beside", ctx, tag);
    if (milliseconds > 0) ::poll(nullptr, 0, milliseconds);
    if ((verdict == "retry" || verdict == "crash") && ctx.attempt() > 1) verdict = "success";
    if (verdict == "any") verdict = ctx.attempt() > 2 ? "success" : any_verdict();
    const bool dies = verdict == "crash" || verdict == "poison";
    trace(dies ? "crash" : verdict, ctx, tag);
    if (dies) die();
    lock(place, F_UNLCK);
    if (verdict == "success") return allot::success();
    return verdict == "retry" ? allot::retry("as told") : allot::fail("as told");
  }

 private:
  // The kernel knows better than any clock whether another run of this task is still going on: each
  // locks one byte, at a place of the tag's own, and a process that dies lets go of it.
  static off_t place_of(const std::string& tag) {
    const auto dot = tag.find('.');
    return (std::stoll(tag) << 40) + std::stoll(tag.substr(dot + 1));
  }
  // False: another run has it.
  bool lock(off_t place, int kind) const {
    struct flock lock {};
    lock.l_type = static_cast<short>(kind);
    lock.l_whence = SEEK_SET;
    lock.l_start = place;
    lock.l_len = 1;
    return ::fcntl(fd_, F_OFD_SETLK, &lock) == 0;
  }

  static std::string any_verdict() {
    const unsigned dice = std::random_device{}() % 10;
    return dice < 4 ? "success" : dice < 8 ? "retry" : "fail";
  }

  [[noreturn]] static void die() {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    ::_exit(1);
  }

  // One write: a worker that is killed leaves a whole line or none.
  void trace(const std::string& mark, const allot::Context& ctx, const std::string& tag) const {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    std::ostringstream line;
    line << mark << ' ' << ctx.queue() << ' ' << ctx.id() << ' ' << tag << ' ' << ::getpid() << ' '
         << time.tv_sec * 1'000'000'000LL + time.tv_nsec << '\n';
    const std::string text = line.str();
    if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot write the trace");
  }

  int fd_;
};

ALLOT_PLUGIN("fault", "1")
ALLOT_HANDLER("fault.run", Traced)

}  // namespace

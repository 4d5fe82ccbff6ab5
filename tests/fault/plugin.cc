// SPDX-License-Identifier: Apache-2.0
//
// The handler of the fault harness: says when it starts and when it is about to return.
//   [plugins.fault]
//   output = "FILE"
// payload: TAG MILLISECONDS success|retry|fail; retry succeeds from its second attempt on.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <ctime>
#include <sstream>
#include <stdexcept>

namespace {

class Traced : public allot::Handler {
 public:
  explicit Traced(const allot::Config& config)
      : fd_(::open(config.get("output").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)) {
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
    trace("start", ctx, tag);
    if (milliseconds > 0) ::poll(nullptr, 0, milliseconds);
    if (verdict == "retry" && ctx.attempt() > 1) verdict = "success";
    trace(verdict, ctx, tag);
    if (verdict == "success") return allot::success();
    return verdict == "retry" ? allot::retry("as told") : allot::fail("as told");
  }

 private:
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

// SPDX-License-Identifier: Apache-2.0
//
// The handler of the fault harness: it records when it starts and when it is about to return.
//   [plugins.fault]
//   output = "FILE"        traces; FILE.razed: the processes that raze killed
// payload: TAG MILLISECONDS success|retry|fail|crash|poison|raze|late
// retry and crash succeed from their second attempt on; poison never does, nor does raze, which
// kills allotd and all its workers. late succeeds, unless it is asked to stop: then it says retry
// or fail.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "ipc/slot.h"

namespace {

// What this worker knows about its lease, so that a report can say under which one a task ran. No
// ordinary plugin may look there.
class OwnSlot {
 public:
  OwnSlot() {
    struct stat file {};
    if (::fstat(allot::ipc::kSlotFd, &file) != 0 || file.st_size == 0) return;
    size_ = static_cast<std::size_t>(file.st_size);
    void* all = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, allot::ipc::kSlotFd, 0);
    if (all != MAP_FAILED) file_ = static_cast<const char*>(all);
  }
  OwnSlot(const OwnSlot&) = delete;
  OwnSlot& operator=(const OwnSlot&) = delete;
  ~OwnSlot() {
    if (file_ != nullptr) ::munmap(const_cast<char*>(file_), size_);
  }

  [[nodiscard]] std::uint64_t epoch() const {
    const auto* slot = find();
    return slot != nullptr ? slot->epoch.load() : 0;
  }
  [[nodiscard]] std::uint64_t lease_until() const {
    const auto* slot = find();
    return slot != nullptr ? slot->lease_deadline_ns.load() : 0;
  }

 private:
  [[nodiscard]] const allot::ipc::Slot* find() const {
    const auto pid = static_cast<std::uint32_t>(::getpid());
    for (std::uint32_t i = 0; file_ != nullptr && allot::ipc::slot_file_size(i + 1) <= size_; ++i) {
      const auto* slot =
          reinterpret_cast<const allot::ipc::Slot*>(file_ + allot::ipc::slot_offset(i));
      if (slot->pid == pid) return slot;
    }
    return nullptr;
  }

  const char* file_ = nullptr;
  std::size_t size_ = 0;
};

class Traced : public allot::Handler {
 public:
  explicit Traced(const allot::Config& config)
      : fd_(opened(std::string(config.get("output")))),
        razed_(opened(std::string(config.get("output")) + ".razed")) {}
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;
  ~Traced() override {
    ::close(fd_);
    ::close(razed_);
  }

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
    if (verdict == "late") verdict = late_verdict(ctx);
    if (verdict == "poison") verdict = "crash";
    trace(verdict, ctx, tag);
    if (verdict == "crash") die();
    if (verdict == "raze") raze();
    lock(place, F_UNLCK);
    if (verdict == "success") return allot::success();
    return verdict == "retry" ? allot::retry("as told") : allot::fail("as told");
  }

 private:
  static int opened(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) throw std::runtime_error("cannot open " + path);
    return fd;
  }

  // The kernel knows better than any clock whether another run of this task is still going on: each
  // run locks one byte, at a place of the tag's own, and the kernel releases the lock of a process
  // that dies.
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

  static std::string late_verdict(const allot::Context& ctx) {
    if (!ctx.stop_requested()) return "success";
    return std::random_device{}() % 2 == 0 ? "retry" : "fail";
  }

  [[noreturn]] static void die() {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    ::_exit(1);
  }

  // allotd stands still first, so that it heals nothing meanwhile.
  [[noreturn]] void raze() const {
    const pid_t supervisor = parent_;
    ::kill(supervisor, SIGSTOP);
    std::ifstream children("/proc/" + std::to_string(supervisor) + "/task/" +
                           std::to_string(supervisor) + "/children");
    for (pid_t child = 0; children >> child;) {
      if (child == ::getpid()) continue;
      ::kill(child, SIGKILL);
      const auto at = std::to_string(now());
      write_line(razed_, "razed " + std::to_string(child) + " " + at + " " + at + " fatal host");
    }
    ::kill(supervisor, SIGKILL);
    write_line(razed_, "razed " + std::to_string(supervisor) + " " + std::to_string(now()) + " " +
                           std::to_string(now()) + " fatal host");
    ::raise(SIGKILL);
    ::_exit(1);
  }

  static long long now() {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  }

  // One write: a worker that is killed leaves a whole line or none.
  static void write_line(int fd, const std::string& line) {
    const std::string text = line + "\n";
    if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("cannot write the trace");
  }

  void trace(const std::string& mark, const allot::Context& ctx, const std::string& tag) const {
    std::ostringstream line;
    line << mark << ' ' << ctx.queue() << ' ' << ctx.id() << ' ' << tag << ' ' << ::getpid() << ' '
         << parent_ << ' ' << now();
    if (mark == "start" || mark == "beside") {
      line << ' ' << ctx.attempt() << ' ' << slot_.epoch() << ' ' << slot_.lease_until();
    }
    write_line(fd_, line.str());
  }

  pid_t parent_ = ::getppid();  // now, for allotd may die
  OwnSlot slot_;
  int fd_;
  int razed_;
};

ALLOT_PLUGIN("fault", "1")
ALLOT_HANDLER("fault.run", Traced)

}  // namespace

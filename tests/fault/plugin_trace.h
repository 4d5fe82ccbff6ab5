// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <csignal>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <string>

#include "ipc/slot.h"
#include "record.h"

// Traces written by the handlers of the fault harness. Included only by the sources of one plugin.
namespace {

// This worker's view of its lease, so that a report can name the lease under which a task ran. Not
// accessible to ordinary plugins.
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
    for (std::uint32_t i = 0; file_ != nullptr && allot::ipc::slot_offset(i + 1) <= size_; ++i) {
      const auto* slot =
          reinterpret_cast<const allot::ipc::Slot*>(file_ + allot::ipc::slot_offset(i));
      if (slot->pid == pid) return slot;
    }
    return nullptr;
  }

  const char* file_ = nullptr;
  std::size_t size_ = 0;
};

// The trace file, to which every worker appends records.
class Tracer {
 public:
  explicit Tracer(const allot::Config& config) : fd_(opened(std::string(config.get("output")))) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer() { ::close(fd_); }

  static int opened(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) throw std::runtime_error("cannot open " + path);
    return fd;
  }

  // Call it when a handler begins; it records whether another run of this task is active.
  void begin(const allot::Context& ctx, const std::string& tag,
             const std::string& more = {}) const {
    const bool alone = lock(place_of(tag), F_WRLCK);
    std::ostringstream words;
    words << ctx.attempt() << ' ' << slot_.epoch() << ' ' << slot_.lease_until() << ' ' << more;
    note(alone ? "start" : "parallel", ctx, tag, words.str());
  }
  // Call it before the handler returns, crashes or throws.
  void end(const std::string& mark, const allot::Context& ctx, const std::string& tag) const {
    note(mark, ctx, tag);
    // A dying process keeps the lock until the kernel has registered its death.
    if (mark != "crash" && mark != "raze") (void)lock(place_of(tag), F_UNLCK);
  }
  void note(const std::string& mark, const allot::Context& ctx, const std::string& tag,
            const std::string& more = {}) const {
    std::ostringstream line;
    line << mark << ' ' << ctx.queue() << ' ' << ctx.id() << ' ' << tag << ' ' << ::getpid() << ' '
         << parent_ << ' ' << now();
    if (!more.empty()) line << ' ' << more;
    write_record(fd_, line.str());
  }

  [[nodiscard]] pid_t parent() const { return parent_; }

  static long long now() {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  }

  // A killed worker leaves a whole record or none.
  static void write_record(int fd, const std::string& line) {
    const std::string record = allot::fault::record_of(line);
    if (::write(fd, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
      throw std::runtime_error("cannot write the trace");
  }

  [[noreturn]] static void crash() {
    ::signal(SIGSEGV, SIG_DFL);
    // A thread that runs concurrent tasks blocks all signals. A real fault ends it anyway; a raised
    // one would stay pending.
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, SIGSEGV);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(SIGSEGV);
    ::_exit(1);
  }

 private:
  // Detects another active run of this task more reliably than any clock: each run locks one byte,
  // at a position derived from the tag, and the kernel releases the lock of a process that dies.
  // Runs of one process share the lock of its file, so that only other processes are detected.
  static off_t place_of(const std::string& tag) {
    const auto dot = tag.find('.');
    return (std::stoll(tag) << 40) + std::stoll(tag.substr(dot + 1));
  }
  // False: another run has it.
  [[nodiscard]] bool lock(off_t place, int kind) const {
    struct flock lock {};
    lock.l_type = static_cast<short>(kind);
    lock.l_whence = SEEK_SET;
    lock.l_start = place;
    lock.l_len = 1;
    return ::fcntl(fd_, F_OFD_SETLK, &lock) == 0;
  }

  pid_t parent_ = ::getppid();  // read now, because allotd may die
  OwnSlot slot_;
  int fd_;
};

}  // namespace

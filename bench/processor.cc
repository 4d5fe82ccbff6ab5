// SPDX-License-Identifier: Apache-2.0
#include "bench/processor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/unique_fd.h"

namespace allot::bench {
namespace {

namespace fs = std::filesystem;

// A thread may end while it is read.
template <typename See>
void for_each_thread(pid_t pid, const See& see) {
  std::error_code gone;
  const fs::directory_iterator threads("/proc/" + std::to_string(pid) + "/task", gone);
  for (auto at = begin(threads); at != end(threads); at.increment(gone)) see(at->path());
}

}  // namespace

std::uint64_t processor_ns(pid_t pid) {
  std::uint64_t all = 0;
  for_each_thread(pid, [&](const fs::path& thread) {
    std::uint64_t ran = 0;
    std::ifstream(thread / "schedstat") >> ran;
    all += ran;
  });
  return all;
}

std::uint64_t own_processor_ns() {
  timespec ran{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
  return static_cast<std::uint64_t>(ran.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(ran.tv_nsec);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for_each_thread(parent, [&](const fs::path& thread) {
    std::ifstream children(thread / "children");
    for (pid_t child = 0; children >> child;) found.push_back(child);
  });
  return found;
}

std::uint64_t children_processor_ns(pid_t parent) {
  std::uint64_t all = 0;
  for (const pid_t child : children_of(parent)) all += processor_ns(child);
  if (all == 0) throw Error("this kernel does not say how long a process ran");
  return all;
}

pid_t server_at(const std::string& socket) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  socket.copy(at.sun_path, sizeof at.sun_path - 1);
  ucred server{};
  socklen_t size = sizeof server;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &server, &size) != 0) {
    throw Error(socket + ": " + std::strerror(errno));
  }
  return server.pid;
}

OneProcessor::OneProcessor(pid_t pid) : pid_(pid) {
  sched_getaffinity(pid_, sizeof before_, &before_);
  std::size_t first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &before_)) ++first;
  cpu_set_t one{};
  CPU_SET(first, &one);
  sched_setaffinity(pid_, sizeof one, &one);
}

OneProcessor::~OneProcessor() {
  sched_setaffinity(pid_, sizeof before_, &before_);
}

}  // namespace allot::bench

// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace exec_plugin {
namespace {

using allot::UniqueFd;
using programs::above_those_of_programs;

// The payload as a memory file, so that no thread must feed a pipe and the command may leave it
// unread.
UniqueFd file_of(std::string_view content) {
  UniqueFd file =
      above_those_of_programs(::memfd_create("allot-payload", MFD_CLOEXEC), "no memory file");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t put =
        ::pwrite(file.get(), content.data() + at, content.size() - at, static_cast<off_t>(at));
    if (put < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "the payload cannot be passed on");
    }
    if (put > 0) at += static_cast<std::size_t>(put);
  }
  return file;
}

}  // namespace

Child::Child(const programs::Program& program, bool keep_stdout,
             const std::vector<std::string>& variables, std::string_view input) {
  const UniqueFd payload = file_of(input);
  const UniqueFd nowhere =
      above_those_of_programs(::open("/dev/null", O_WRONLY | O_CLOEXEC), "/dev/null");
  programs::Pipe output = programs::make_pipe();
  const int out = keep_stdout ? output.write.get() : nowhere.get();
  process_.emplace(program, variables, std::vector<int>{payload.get(), out, output.write.get()});
  output_ = std::move(output.read);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
}

bool Child::wait(std::chrono::milliseconds most) {
  // Without a pidfd, polls every few milliseconds for the exit of the command.
  const int patience = process_->alive() >= 0 ? static_cast<int>(most.count()) : 5;
  pollfd events[] = {{output_.get(), POLLIN, 0}, {process_->alive(), POLLIN, 0}};
  if (::poll(events, 2, patience) > 0 && events[0].revents != 0) (void)read_on();
  return process_->ended();
}

std::optional<int> Child::reap() {
  const std::optional<int> status = process_->reap();
  // Reads the rest of the pipe, within limits, because a process that left the group may keep
  // writing.
  for (int i = 0; i < 16 && output_.get() >= 0 && read_on(); ++i) {
  }
  return status;
}

// Reads available output. False: none.
bool Child::read_on() {
  std::array<char, 65536> buffer{};
  const auto got = programs::read_some(output_, buffer.data(), buffer.size());
  if (got == std::size_t{0}) output_ = UniqueFd();  // poll ignores an empty descriptor
  if (got.value_or(0) == 0) return false;
  said_.add(buffer.data(), *got);
  bytes_said_ += *got;
  return true;
}

}  // namespace exec_plugin

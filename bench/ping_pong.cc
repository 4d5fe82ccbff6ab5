// SPDX-License-Identifier: Apache-2.0
#include "bench/ping_pong.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "base/error.h"
#include "base/posix.h"

namespace allot::bench {
namespace {

constexpr int kIn = 3;
constexpr int kOut = 4;

// Duplicates a descriptor to a number above all numbers that the program uses, so that they do not
// collide.
UniqueFd high(int fd) {
  const UniqueFd low(fd);
  return UniqueFd(fcntl(low.get(), F_DUPFD_CLOEXEC, kOut + 1));
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  return raw;
}

}  // namespace

PingPong::PingPong(std::vector<std::string> command, std::vector<std::string> variables) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) throw Error("no pipe");
  const UniqueFd its_in = high(in[0]);
  to_ = high(in[1]);
  from_ = high(out[0]);
  UniqueFd its_out = high(out[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, its_in.get(), kIn);
  posix_spawn_file_actions_adddup2(&actions, its_out.get(), kOut);
  const int error = posix_spawn(&pid_, command[0].c_str(), &actions, nullptr,
                                pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(command[0] + " cannot be started: " + std::strerror(error));
  its_out.reset();  // otherwise its end would not be noticed
  await_line();     // hello line
}

PingPong::~PingPong() {
  to_.reset();
  waitpid(pid_, nullptr, 0);
}

void PingPong::await_line() {
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = read(from_.get(), part.data(), part.size());
    if (got <= 0) throw Error("the program has ended");
    if (part.at(static_cast<std::size_t>(got) - 1) == '\n') return;
  }
}

void PingPong::play(const std::string& line, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) {
    if (!write_all(to_.get(), line.data(), line.size())) throw Error("the program takes nothing");
    await_line();
  }
}

double rate_of(const std::vector<std::unique_ptr<PingPong>>& several, const std::string& line,
               std::uint32_t times) {
  std::vector<std::exception_ptr> failures(several.size());
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < several.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          several[i]->play(line, times);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return static_cast<double>(several.size()) * times / took.count();
}

}  // namespace allot::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/unique_fd.h"

namespace allot::bench {

// An HTTP server that answers every POST with 200 and `body` after `pause`, and then closes the
// connection if `closes`. One thread.
class Target {
 public:
  explicit Target(std::chrono::milliseconds pause, const std::string& body = {},
                  bool closes = false);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // Number of answered requests.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Due {
    Clock::time_point when{};
    int fd = -1;
  };

  void serve();
  void answer_what_is_due();
  [[nodiscard]] timespec until_next() const;
  void accept_one();
  void read_from(int fd);

  std::chrono::milliseconds pause_;
  std::string answer_;
  bool closes_;
  std::atomic<std::uint64_t> answered_ = 0;
  std::uint16_t port_ = 0;
  UniqueFd listener_{};
  UniqueFd epoll_{};
  UniqueFd stop_{};
  std::unordered_map<int, std::string> requests_{};  // incomplete requests by connection
  std::unordered_map<int, UniqueFd> connections_{};
  std::deque<Due> due_{};
  std::thread thread_{};
};

// Sends requests over its own connection until the deadline, at least once. Returns the number of
// complete responses.
using Asker = std::function<std::uint64_t(std::chrono::steady_clock::time_point until)>;

// Runs `sessions` of them concurrently, each in a thread. Returns responses per second.
double answers_a_second(std::size_t sessions, std::chrono::duration<double> length,
                        const Asker& ask);

// Sends a prepared request over `sessions` persistent connections, and checks only the length of
// the responses: the minimum work of any program with threads.
double ready_requests(std::uint16_t port, std::size_t sessions, const std::string& request,
                      std::chrono::duration<double> length);

// Sends one request over its own connection. Returns the whole response.
std::string post(std::uint16_t port, const std::string& request);

}  // namespace allot::bench

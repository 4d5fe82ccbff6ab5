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

// An HTTP server that answers every POST with 200 and `body`, `pause` after it came, and closes the
// connection then if it `closes`. One thread.
class Target {
 public:
  explicit Target(std::chrono::milliseconds pause, const std::string& body = {},
                  bool closes = false);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // How many requests it has answered.
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
  std::unordered_map<int, std::string> requests_{};  // by connection, as far as they have come
  std::unordered_map<int, UniqueFd> connections_{};
  std::deque<Due> due_{};
  std::thread thread_{};
};

// Asks over a connection of its own until the time is over, once at least. Returns how often it had
// the whole answer.
using Asker = std::function<std::uint64_t(std::chrono::steady_clock::time_point until)>;

// So many at the same time, each in a thread. Returns how many were answered in a second.
double answers_a_second(std::size_t sessions, std::chrono::duration<double> length,
                        const Asker& ask);

// Sends a request that stands ready over so many connections that stay, and looks at no more of the
// answers than their length: the least that anybody with threads has to do.
double ready_requests(std::uint16_t port, std::size_t sessions, const std::string& request,
                      std::chrono::duration<double> length);

// Sends one request over a connection of its own. Returns the whole answer.
std::string post(std::uint16_t port, const std::string& request);

}  // namespace allot::bench

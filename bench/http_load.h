// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "bench/child.h"

namespace allot::bench {

using Seconds = std::chrono::duration<double>;

// Results of one side of a comparison.
struct Figures {
  double per_s = 0;
  double p99_ms = 0;
};

// Figures of the durations, in microseconds; reorders them.
[[nodiscard]] Figures figures_of(std::vector<std::uint32_t>& took_us, Seconds elapsed);

// A gateway on this host.
struct Endpoint {
  std::uint16_t port = 0;
  bool encrypted = false;
  std::string token{};  // empty: not required
};

// A free port of this host.
[[nodiscard]] std::uint16_t free_port();
// Waits until the gateway listens there. Throws Error if it has ended.
void wait_for_endpoint(const Endpoint& endpoint, Child& gateway);

// A way to submit a task.
struct Submit {
  std::string path = "/api/v1/tasks";
  std::string body = R"({"queue":"bench","type":"bench.noop","payload":"0123456789"})";
  std::string good = "HTTP/1.1 201";
};

// Submits one small task repeatedly, on several connections: each sends the next request when it
// has the whole response to the previous one. One thread and a few system calls per request,
// because the generator competes with the measured program for processor time.
class HttpLoad {
 public:
  // `keeps`: the connections stay open. Otherwise each request has its own connection, which must
  // be plain.
  HttpLoad(const Endpoint& endpoint, std::size_t connections, bool keeps,
           const Submit& submit = {});
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;
  ~HttpLoad();

  // Throws Error on any other response than success.
  [[nodiscard]] Figures run(Seconds length);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Sends a single request. Returns the whole response.
std::string ask(const Endpoint& endpoint, const char* method, const std::string& path,
                const std::string& body);

// Time until all lines are answered.
[[nodiscard]] Seconds upload(const Endpoint& endpoint, const std::string& lines);

// Connections that are idle, and others that send one byte of a head each second and start again
// after a disconnect.
class Crowd {
 public:
  Crowd(const Endpoint& endpoint, std::size_t idle, std::size_t dripping);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  // Number of idle connections that are still open.
  [[nodiscard]] std::size_t open() const;

 private:
  void drip(const std::stop_token& stop);

  Endpoint endpoint_;
  std::vector<UniqueFd> idle_;
  std::vector<UniqueFd> dripping_;
  std::jthread thread_;
};

}  // namespace allot::bench

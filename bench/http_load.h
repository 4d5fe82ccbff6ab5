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

// What one side of a comparison did.
struct Figures {
  double per_s = 0;
  double p99_ms = 0;
};

// Of how long each took, in microseconds; reorders them.
[[nodiscard]] Figures figures_of(std::vector<std::uint32_t>& took_us, Seconds elapsed);

// A gateway at this host.
struct Door {
  std::uint16_t port = 0;
  bool encrypted = false;
  std::string token{};  // empty: none is asked for
};

// A port of this host that nobody has.
[[nodiscard]] std::uint16_t free_port();
// Until that gateway listens there. Throws Error when it has ended.
void wait_for_door(const Door& door, Child& gateway);

// How a task is submitted.
struct Submit {
  std::string path = "/api/v1/tasks";
  std::string body = R"({"queue":"bench","type":"bench.noop","payload":"0123456789"})";
  std::string good = "HTTP/1.1 201";
};

// Submits one small task over and over, on several connections: each sends the next request when it
// has the whole answer to the one before. One thread and a few system calls for each request,
// because the generator takes its processor time from what it measures.
class HttpLoad {
 public:
  // `keeps`: the connections stay open. Without, each request has a connection of its own, and only
  // plain ones are known.
  HttpLoad(const Door& door, std::size_t connections, bool keeps, const Submit& submit = {});
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;
  ~HttpLoad();

  // Throws Error on any answer that is not the good one.
  [[nodiscard]] Figures run(Seconds length);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Sends a single request. Returns the answer, from its first line to its end.
std::string ask(const Door& door, const char* method, const std::string& path,
                const std::string& body);

// How long it takes until all lines are answered.
[[nodiscard]] Seconds upload(const Door& door, const std::string& lines);

// Connections that ask nothing, and others that send a byte of a head each second and begin anew
// when they are cut.
class Crowd {
 public:
  Crowd(const Door& door, std::size_t idle, std::size_t dripping);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  // How many of the idle ones are still connected.
  [[nodiscard]] std::size_t open() const;

 private:
  void drip(const std::stop_token& stop);

  Door door_;
  std::vector<UniqueFd> idle_;
  std::vector<UniqueFd> dripping_;
  std::jthread thread_;
};

}  // namespace allot::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace allot::bench {

// A POST as sent by a program without Allot.
struct Post {
  std::uint16_t port = 0;  // of the loopback
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string payload{};
};

// Sends it repeatedly over `sessions` persistent connections, each a Poco::Net::HTTPClientSession
// with its own thread, which builds the request head and parses the response head. Returns
// responses per second.
double bare_sessions(const Post& post, std::size_t sessions, std::chrono::duration<double> length);

}  // namespace allot::bench

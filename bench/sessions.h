// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace allot::bench {

// A POST as a program without Allot would send it.
struct Post {
  std::uint16_t port = 0;  // of the loopback
  std::vector<std::pair<std::string, std::string>> fields{};
  std::string payload{};
};

// Sends it again and again over so many connections that stay, each a Poco::Net::HTTPClientSession
// with a thread of its own, which makes the head and reads that of the answer. Returns how many
// were answered in a second.
double bare_sessions(const Post& post, std::size_t sessions, std::chrono::duration<double> length);

}  // namespace allot::bench

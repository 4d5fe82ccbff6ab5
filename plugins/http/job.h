// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace http_plugin {

// The type of the jobs that came by Fireworq's API.
inline constexpr const char* kJobType = "fireworq.job";

// A job of Fireworq, as the gateway wrote it: one line of JSON, and the bytes to POST behind it.
struct Job {
  std::string url{};
  std::string category{};
  std::uint32_t timeout = 0;      // seconds for all of it; 0: none of its own
  std::uint32_t retry_delay = 0;  // seconds
  std::string_view body{};        // a part of the payload that was read
};

// Throws std::invalid_argument with what is wrong.
Job read_job(std::string_view payload);

}  // namespace http_plugin

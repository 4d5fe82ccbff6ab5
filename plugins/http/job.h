// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace http_plugin {

// Task type of jobs submitted by Fireworq's API.
inline constexpr const char* kJobType = "fireworq.job";

// A Fireworq job as the gateway stores it: one line of JSON, followed by the bytes to POST.
struct Job {
  std::string url{};
  std::string category{};
  std::uint32_t timeout = 0;      // seconds in total; 0: none
  std::uint32_t retry_delay = 0;  // seconds
  std::string_view body{};        // a part of the payload passed to read_job()
};

// Throws std::invalid_argument with the error.
Job read_job(std::string_view payload);

}  // namespace http_plugin

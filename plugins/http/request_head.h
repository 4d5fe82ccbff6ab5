// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "targets.h"

namespace http_plugin {

// Task data sent to a target.
struct TaskWords {
  std::string_view id;
  std::string_view queue;
  std::string_view type;
  std::string_view payload;
  std::uint32_t attempt = 1;
  std::uint32_t max_attempts = 1;
  std::string_view traceparent{};  // empty: no trace
  std::string_view tracestate{};
};

// The request without its body. `time` is in seconds since 1970, for the signature.
std::string request_head(const Target& target, const TaskWords& task, std::int64_t time);

}  // namespace http_plugin

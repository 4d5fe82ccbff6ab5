// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "targets.h"

namespace http_plugin {

// What a target is told of a task.
struct TaskWords {
  std::string_view id;
  std::string_view queue;
  std::string_view type;
  std::string_view payload;
  std::uint32_t attempt = 1;
  std::uint32_t max_attempts = 1;
  std::string_view traceparent{};  // empty: it belongs to no trace
  std::string_view tracestate{};
};

// Everything of a request but its body. `time` is in seconds since 1970, for the signature.
std::string request_head(const Target& target, const TaskWords& task, std::int64_t time);

}  // namespace http_plugin

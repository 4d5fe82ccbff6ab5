// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/fireworq/definition.h"

// What clients send, and what is stored of a job. Pure functions; each throws Refused for what is
// to be answered with 400 or 413.
namespace allot::gateway::fireworq {

struct JobFields {
  std::string url;
  std::string category;
  std::uint32_t run_after = 0;  // seconds, as the next two
  std::uint32_t timeout = 0;
  std::uint32_t retry_delay = 0;
  std::uint32_t max_retries = 0;
};

struct PushedJob {
  JobFields fields;
  std::string payload{};       // the bytes to POST
  std::string shown = "null";  // the JSON that stood there
};
[[nodiscard]] PushedJob read_job(std::string_view body, std::string_view category);

// The envelope in front of the bytes to POST.
[[nodiscard]] std::string stored(const PushedJob& job);
struct StoredJob {
  JobFields fields{};
  std::string_view payload{};  // of what was given
};
// Of a task that somebody else submitted what can be read; nothing is refused.
[[nodiscard]] StoredJob read_stored(std::string_view payload);

// What is missing is as in `defaults`.
[[nodiscard]] queue::FireworqQueue read_queue(std::string_view body, std::string_view name,
                                              const queue::FireworqQueue& defaults);
// The name of the queue.
[[nodiscard]] std::string read_routing(std::string_view body);

}  // namespace allot::gateway::fireworq

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/fireworq/definition.h"

// Parses requests of clients and the stored form of a job. Pure functions; each throws Refused for
// a request to be answered with 400 or 413.
namespace allot::gateway::fireworq {

struct JobFields {
  std::string url;
  std::string category;
  std::uint32_t run_after = 0;  // seconds, also for the next two
  std::uint32_t timeout = 0;
  std::uint32_t retry_delay = 0;
  std::uint32_t max_retries = 0;
};

struct PushedJob {
  JobFields fields;
  std::string payload{};       // the bytes to POST
  std::string shown = "null";  // the same value as JSON
};
[[nodiscard]] PushedJob read_job(std::string_view body, std::string_view category);

// The payload of the task: an envelope in front of the bytes to POST.
[[nodiscard]] std::string stored(const PushedJob& job);
struct StoredJob {
  JobFields fields{};
  std::string_view payload{};  // part of the argument
};
// Reads the known fields of a payload from any submitter; never refuses.
[[nodiscard]] StoredJob read_stored(std::string_view payload);

// Missing fields have the values of `defaults`.
[[nodiscard]] queue::FireworqQueue read_queue(std::string_view body, std::string_view name,
                                              const queue::FireworqQueue& defaults);
// The queue name of a routing.
[[nodiscard]] std::string read_routing(std::string_view body);

}  // namespace allot::gateway::fireworq

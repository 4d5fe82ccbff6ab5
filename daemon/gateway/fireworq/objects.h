// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/fireworq/body.h"
#include "queue/fireworq/definition.h"
#include "queue/fireworq/jobs.h"

// JSON objects of the answers. Pure.
namespace allot::gateway::fireworq {

// "2026-11-24T23:58:21.5Z": RFC 3339 with up to three decimals.
[[nodiscard]] std::string time_text(std::int64_t ms);

// Writes one object, member by member.
class Object {
 public:
  Object& text(std::string_view name, std::string_view value);
  Object& number(std::string_view name, std::uint64_t value);
  Object& json(std::string_view name, std::string_view value);  // copied unchanged
  [[nodiscard]] std::string done() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

[[nodiscard]] std::string queue_object(const queue::FireworqQueue& queue);
[[nodiscard]] std::string routing_object(const queue::Routing& routing);
[[nodiscard]] std::string pushed_object(std::uint64_t number, std::string_view queue,
                                        const PushedJob& job);
[[nodiscard]] std::string job_object(const queue::Job& job);
[[nodiscard]] std::string failed_object(const queue::Job& job);

// The parsed error of a failed attempt: "failure 500: response text". Any other text is the
// message.
struct Result {
  std::string_view status = "internal-failure";
  std::uint32_t code = 0;
  std::string_view message{};
};
[[nodiscard]] Result result_of(std::string_view error);

// Statistics of a queue since the start of the gateway, and its current state.
struct QueueStats {
  std::uint64_t pushes = 0, pops = 0, successes = 0, failures = 0, permanent_failures = 0;
  std::uint64_t elapsed_ms = 0;
  std::uint64_t pushes_per_second = 0, pops_per_second = 0;
  std::uint64_t outstanding = 0, workers = 0, idle = 0, active = 0;
};
[[nodiscard]] std::string stats_object(const QueueStats& stats);

}  // namespace allot::gateway::fireworq

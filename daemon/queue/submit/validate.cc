// SPDX-License-Identifier: Apache-2.0
// Checks of submissions: see submit.h.
#include <string>
#include <string_view>

#include "queue/submit/submit.h"

namespace allot::queue {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(why, kExitBadInput);
}

void check_key(const std::string& field, const std::optional<std::string>& key, std::size_t most) {
  if (!key || (!key->empty() && key->size() <= most)) return;
  refuse(field + " of " + std::to_string(key->size()) + " bytes: 1 to " + std::to_string(most) +
         " are allowed");
}

void check_count(const std::string& field, const std::optional<std::uint32_t>& count) {
  if (!count || (*count >= 1 && *count <= kMostAttempts)) return;
  refuse(field + " " + std::to_string(*count) + ": 1 to " + std::to_string(kMostAttempts) +
         " are allowed");
}

void check_time(const std::string& field, std::chrono::microseconds time) {
  if (time.count() >= 0 && time <= kMaxDelay) return;
  refuse(field + " of " + std::to_string(time.count()) +
         " microseconds: 0 to a century are allowed");
}

void check_moment(const std::string& field, const std::optional<Moment>& moment) {
  if (!moment || *moment < kLastRunAt) return;
  refuse(field + ": the year 2150 or later; the latest time is 2149-12-31T23:59:59.999999Z");
}

void check_options(const SubmitOptions& options) {
  if (options.prio >= kPrioClasses) {
    refuse("prio " + std::to_string(options.prio) + ": 0 (first) to 3 are allowed");
  }
  check_time("delay", options.delay);
  check_time("unique_for", options.unique_for);
  check_time("expires_in", options.expires_in);
  check_moment("run_at", options.run_at);
  check_moment("expires_at", options.expires_at);
  check_key("unique_key", options.unique_key, kMaxUniqueKey);
  check_key("partition_key", options.partition_key, kMaxPartitionKey);
  check_count("max_attempts", options.max_attempts);
  check_count("max_losses", options.max_losses);
  if (!options.label.empty() && !is_label(options.label)) {
    refuse("label: 1 to " + std::to_string(kMaxLabel) + " printable characters of ASCII");
  }
  const auto limit = options.time_limit.value_or(kLeastTimeLimit);
  if (limit < kLeastTimeLimit || limit > kMostTimeLimit) {
    refuse("time_limit of " + std::to_string(limit.count()) +
           " milliseconds: 1s to 720h are allowed");
  }
  const bool delayed = options.delay.count() != 0;
  const bool expires = options.expires_in.count() != 0;
  if (options.run_at && delayed) refuse("delay and run_at exclude each other");
  if (options.expires_at && expires) refuse("expires_in and expires_at exclude each other");
  const bool never =
      (expires && options.expires_in <= options.delay) ||
      (options.expires_at && options.run_at && *options.expires_at <= *options.run_at);
  if (never) refuse("the task expires before it is due, so it would never run");
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, 80));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return "'" + line + (text.size() > line.size() ? "..." : "") + "'";
}

void check_fields(const Submission& submission) {
  if (!is_type(submission.type)) {
    refuse("type " + one_line(submission.type) + ": 1 to 127 of A-Z a-z 0-9 . _ - are allowed");
  }
  if (submission.payload.size() > kMaxPayload) {
    refuse("payload of " + std::to_string(submission.payload.size()) +
           " bytes: the limit is 16 MiB - 1 (" + std::to_string(kMaxPayload) +
           "); store the data elsewhere and submit a reference");
  }
  check_options(submission.options);
}

void check_placement(const Submission& submission) {
  const auto& [queue, type, payload, options, named] = submission;
  const std::string name = "queue '" + queue.name + "' is ";
  if (queue.shape.placement == Placement::kSpread) {
    if (!options.partition_key) return;
    refuse("partition_key: " + name +
           "neither ordered nor limited nor fair, so it would have no "
           "effect");
  }
  const std::string placed = name + std::string(name_of(queue.shape.placement)) + ": ";
  if (!options.partition_key) refuse(placed + "its tasks need a partition_key");
  if (queue.shape.placement != Placement::kOrdered) return;
  const char* refused = nullptr;
  if (options.prio != kDefaultPrio) refused = "prio";
  if (options.delay.count() != 0) refused = "delay";
  if (options.run_at) refused = "run_at";
  if (options.unique_key) refused = "unique_key";
  if (refused != nullptr) refuse(placed + refused + " would break the order of its tasks");
}

void validate(const Submission& submission) {
  check_fields(submission);
  check_placement(submission);
}

}  // namespace allot::queue

// SPDX-License-Identifier: Apache-2.0
// Checks of submissions: see submit.h.
#include <string>
#include <string_view>

#include "queue/submit/submit.h"

namespace allot::queue {
namespace {

// For a one-line message, whatever the text is.
std::string one_line(std::string_view text) {
  std::string line(text.substr(0, 80));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text.size() > line.size() ? line + "..." : line;
}

void check_key(std::string_view field, const std::optional<std::string>& key, std::size_t most) {
  if (!key || (!key->empty() && key->size() <= most)) return;
  throw Error(std::string(field) + " of " + std::to_string(key->size()) + " bytes: 1 to " +
                  std::to_string(most) + " are allowed",
              kExitBadInput);
}

void check_count(std::string_view field, const std::optional<std::uint32_t>& count) {
  if (!count || (*count >= 1 && *count <= kMostAttempts)) return;
  throw Error(std::string(field) + " " + std::to_string(*count) + ": 1 to " +
                  std::to_string(kMostAttempts) + " are allowed",
              kExitBadInput);
}

void check_time(std::string_view field, std::chrono::microseconds time) {
  if (time.count() >= 0 && time <= kMaxDelay) return;
  throw Error(std::string(field) + " of " + std::to_string(time.count()) +
                  " microseconds: 0 to a century are allowed",
              kExitBadInput);
}

void check_moment(std::string_view field, const std::optional<Moment>& moment) {
  if (!moment || *moment < kLastRunAt) return;
  throw Error(std::string(field) +
                  ": the year 2150 or later; the latest time is 2149-12-31T23:59:59.999999Z",
              kExitBadInput);
}

void validate(const SubmitOptions& options) {
  if (options.prio >= kPrioClasses) {
    throw Error("prio " + std::to_string(options.prio) + ": 0 (first) to 3 are allowed",
                kExitBadInput);
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
    throw Error("label: 1 to " + std::to_string(kMaxLabel) + " printable characters of ASCII",
                kExitBadInput);
  }
  if (options.time_limit &&
      (*options.time_limit < kLeastTimeLimit || *options.time_limit > kMostTimeLimit)) {
    throw Error("time_limit of " + std::to_string(options.time_limit->count()) +
                    " milliseconds: 1s to 720h are allowed",
                kExitBadInput);
  }
  if (options.run_at && options.delay.count() != 0) {
    throw Error("delay and run_at exclude each other", kExitBadInput);
  }
  if (options.expires_at && options.expires_in.count() != 0) {
    throw Error("expires_in and expires_at exclude each other", kExitBadInput);
  }
  const bool never =
      (options.expires_in.count() != 0 && options.expires_in <= options.delay) ||
      (options.expires_at && options.run_at && *options.expires_at <= *options.run_at);
  if (never) throw Error("the task expires before it is due, so it would never run", kExitBadInput);
}

// S16: refuses options that would break the order, or that mean nothing without one.
void check_placement(const QueueInfo& queue, const SubmitOptions& options) {
  const std::string named =
      "queue '" + queue.name + "' is " + std::string(name_of(queue.shape.placement)) + ": ";
  if (queue.shape.placement == Placement::kSpread) {
    if (!options.partition_key) return;
    throw Error("partition_key: queue '" + queue.name +
                    "' is neither ordered nor limited nor fair, so it would have no effect",
                kExitBadInput);
  }
  if (!options.partition_key) {
    throw Error(named + "its tasks need a partition_key", kExitBadInput);
  }
  if (queue.shape.placement != Placement::kOrdered) return;
  const char* refused = nullptr;
  if (options.prio != kDefaultPrio) refused = "prio";
  if (options.delay.count() != 0) refused = "delay";
  if (options.run_at) refused = "run_at";
  if (options.unique_key) refused = "unique_key";
  if (refused == nullptr) return;
  throw Error(named + refused + " would break the order of its tasks", kExitBadInput);
}

}  // namespace

void validate(std::string_view type, std::string_view payload, const SubmitOptions& options) {
  if (!is_type(type)) {
    throw Error("type '" + one_line(type) + "': 1 to 127 of A-Z a-z 0-9 . _ - are allowed",
                kExitBadInput);
  }
  if (payload.size() > kMaxPayload) {
    throw Error("payload of " + std::to_string(payload.size()) +
                    " bytes: the limit is 16 MiB - 1 (" + std::to_string(kMaxPayload) +
                    "); store the data elsewhere and submit a reference",
                kExitBadInput);
  }
  validate(options);
}

void validate(const Submission& submission) {
  validate(submission.type, submission.payload, submission.options);
  check_placement(submission.queue, submission.options);
}

}  // namespace allot::queue

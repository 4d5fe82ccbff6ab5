// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "meter/record.h"
#include "thread/mutex.h"

namespace allot::meter {

// A group of errors: see queue/model/error_text.h.
struct ErrorName {
  std::string_view queue;
  std::string_view type;
  std::string_view group;
  std::string_view sample;  // of their text
};

// Times of a task, as far as they are known and count for its verdict.
struct Took {
  std::optional<Nanos> ran{};     // its handler
  std::optional<Nanos> waited{};  // from the time that it was due until its handler was called
  std::optional<std::uint64_t> elapsed_ms{};  // since it was first due; for kDone and kDead
};

// Counts of a slot since allotd started. Each worker of the slot continues the record of the one
// before, so that no count falls. Only the process that has the slot writes it: its worker, or
// after its death its settler. Any of its threads may; a count makes no system call, allocates
// nothing, and blocks only if its queue and type are new here.
class Meter {
 public:
  // The record must outlive the meter.
  explicit Meter(Record& record) : record_(record) {}
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter() = default;

  void count(Count what, std::string_view queue, std::string_view type, const Took& took = {})
      ALLOT_EXCLUDES(naming_);
  // In addition to the verdict, kRetried or kDead.
  void count_error(Count verdict, const ErrorName& name) ALLOT_EXCLUDES(naming_);
  void count(Event what) {
    record_.events[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
  }

 private:
  Pair& pair_of(std::string_view queue, std::string_view type) ALLOT_EXCLUDES(naming_);
  Pair& named(std::string_view queue, std::string_view type) ALLOT_EXCLUDES(naming_);
  Pair* find(std::string_view queue, std::string_view type);
  bool has_room(bool for_rest);
  Failures& named_error(std::uint64_t hash, const ErrorName& name) ALLOT_EXCLUDES(naming_);
  Failures* find_error(std::uint64_t hash, std::string_view group);

  Record& record_;
  Mutex naming_;
  std::atomic<bool> full_{false};  // a further pair is counted with the rest of its queue
};

}  // namespace allot::meter

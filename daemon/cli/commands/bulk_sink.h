// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"

// Where `allot submit --ndjson` takes its batches: a database, or a gateway.
namespace allot::cli {

// What one batch made.
struct BatchMade {
  std::uint64_t tasks = 0;
  std::uint64_t existed = 0;                      // unique keys that were taken
  std::map<std::string, std::uint64_t> states{};  // the same by the state of the tasks with them
  std::vector<std::string> ids{};                 // if they are wanted
};

// One task of a batch, counted from 0, is refused.
class RefusedTask : public Error {
 public:
  RefusedTask(std::size_t at, const std::string& message)
      : Error(message, kExitBadInput), at_(at) {}
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::size_t at_;
};

// Used by one thread, for one batch after the other.
class BulkSink {
 public:
  BulkSink() = default;
  BulkSink(const BulkSink&) = delete;
  BulkSink& operator=(const BulkSink&) = delete;
  virtual ~BulkSink() = default;

  // Takes a line into the batch; the bytes of its payload. nullopt: a line of white space. Throws
  // Error(kExitBadInput) for a line that is none, and then has not taken it.
  virtual std::optional<std::size_t> add(const std::string& text) = 0;

  // Submits the batch, all or nothing, and begins another one. Throws Error: kExitOutcomeUnknown,
  // nobody knows whether it is in; else it is not. The sink is of no more use then.
  virtual BatchMade submit() = 0;

  // Says on standard error what is odd about what was submitted.
  virtual void warn() {}
};

// These use what they are given as long as they live.
std::unique_ptr<BulkSink> database_sink(const config::Settings& settings, db::Connection& db,
                                        bool ids);
std::unique_ptr<BulkSink> gateway_sink(const remote::Session& gateway, bool ids);

}  // namespace allot::cli

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

// Destination of the batches of `allot submit --ndjson`: a database or a gateway.
namespace allot::cli {

// Result of one batch.
struct BatchMade {
  std::uint64_t tasks = 0;
  std::uint64_t existed = 0;                      // unique keys that existed already
  std::map<std::string, std::uint64_t> states{};  // existing keys by state of their tasks
  std::vector<std::string> ids{};                 // empty unless requested
};

// Rejection of one task of a batch, counted from 0.
class RefusedTask : public Error {
 public:
  RefusedTask(std::size_t at, const std::string& message)
      : Error(message, kExitBadInput), at_(at) {}
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  std::size_t at_;
};

// Used by one thread, for one batch after another.
class BulkSink {
 public:
  BulkSink() = default;
  BulkSink(const BulkSink&) = delete;
  BulkSink& operator=(const BulkSink&) = delete;
  virtual ~BulkSink() = default;

  // Adds a line to the batch. Returns the size of its payload in bytes; nullopt for a blank line.
  // Throws Error(kExitBadInput) for an invalid line, which is not added.
  virtual std::optional<std::size_t> add(const std::string& text) = 0;

  // Submits the batch, all or nothing, and begins the next one. Throws Error: with
  // kExitOutcomeUnknown the batch may or may not be stored, with any other code it is not. After an
  // error the sink must not be used.
  virtual BatchMade submit() = 0;

  // Warns on standard error about unusual properties of the submitted tasks.
  virtual void warn() {}
};

// The sinks keep references to their arguments.
std::unique_ptr<BulkSink> database_sink(const config::Settings& settings, db::Connection& db,
                                        bool ids);
std::unique_ptr<BulkSink> gateway_sink(const remote::Session& gateway, bool ids);

}  // namespace allot::cli

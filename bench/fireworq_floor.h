// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/http_load.h"
#include "db/connection.h"

namespace allot::bench {

// A job as a row of Fireworq's table.
struct BareJob {
  std::string category;
  std::string url;
  std::string payload;
};

// The statements of Fireworq 1.5.1, sent by clients that do nothing else, to a table of its shape:
// the minimum work of any job queue that stores its jobs in this way. Does not run Fireworq.
class FireworqFloor {
 public:
  explicit FireworqFloor(const db::ConnectOptions& database);
  FireworqFloor(const FireworqFloor&) = delete;
  FireworqFloor& operator=(const FireworqFloor&) = delete;
  ~FireworqFloor();

  // Creates the table again, with this number of jobs.
  void fill(const BareJob& job, std::uint32_t jobs);
  // `clients` insert the job repeatedly, each time with its own commit.
  [[nodiscard]] Figures push(const BareJob& job, std::size_t clients, Seconds length) const;

  // Processes the jobs of the table: one client grabs, and each worker sends `request` to `port`
  // followed by the job's payload, and deletes the job.
  class Drain;
  [[nodiscard]] std::unique_ptr<Drain> start(std::uint16_t port, const std::string& request,
                                             std::size_t workers) const;

 private:
  db::ConnectOptions database_;
};

class FireworqFloor::Drain {
 public:
  Drain() = default;
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  virtual ~Drain() = default;

  [[nodiscard]] virtual bool running() const = 0;
  // Waits for the end. Rethrows a failure.
  virtual void finish() = 0;
};

}  // namespace allot::bench

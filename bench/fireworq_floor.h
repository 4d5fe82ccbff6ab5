// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/http_load.h"
#include "db/connection.h"

namespace allot::bench {

// A job as Fireworq's table has it.
struct BareJob {
  std::string category;
  std::string url;
  std::string payload;
};

// The statements of Fireworq 1.5.1, sent by clients that do nothing else, to a table of its shape:
// what any job queue that keeps its jobs in this way has to do at least. Nothing of Fireworq's
// runs.
class FireworqFloor {
 public:
  explicit FireworqFloor(const db::ConnectOptions& database);
  FireworqFloor(const FireworqFloor&) = delete;
  FireworqFloor& operator=(const FireworqFloor&) = delete;
  ~FireworqFloor();

  // Makes the table anew, with so many of these jobs.
  void fill(const BareJob& job, std::uint32_t jobs);
  // So many clients insert the job over and over, each its own commit.
  [[nodiscard]] Figures push(const BareJob& job, std::size_t clients, Seconds length) const;

  // Works off what is there: one client grabs, and each of the workers sends `request` to `port`
  // with the job's payload behind it, and deletes the job.
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
  // Waits for the end. Throws what went wrong.
  virtual void finish() = 0;
};

}  // namespace allot::bench

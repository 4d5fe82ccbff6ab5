// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/evidence.h"

namespace allot::fault {

// Scope of a fault that explains something, narrowest first.
enum class Scope { kWorker, kPartition, kHost, kAll };

struct Verdict {
  std::uint64_t acknowledged = 0;  // tasks whose submission was acknowledged
  std::uint64_t refused = 0;
  std::uint64_t unknown = 0;        // the reply was lost
  std::uint64_t unknown_exist = 0;  // number of these that exist
  std::uint64_t runs = 0;           // handlers that started
  std::uint64_t crashes = 0;        // handlers that raised SIGSEGV on request
  std::uint64_t duplicates = 0;     // starts although no handler had requested another run
  std::uint64_t overlaps = 0;       // starts during an earlier run of the same task
  std::uint64_t frozen_overlaps =
      0;                             // of these, in an exclusive queue whose whole host was stopped
  std::uint64_t dead_as_wanted = 0;  // their handler reported a final failure
  std::uint64_t dead_by_attempts = 0;  // they used up their attempts

  // Must all be 0.
  std::uint64_t lost = 0;          // acknowledged, but neither finished nor in a table
  std::uint64_t unfinished = 0;    // still in the table task
  std::uint64_t unexpected = 0;    // ran or exists although refused, or was never submitted
  std::uint64_t doubled = 0;       // one submission created two tasks
  std::uint64_t torn = 0;          // batches of which only a part exists
  std::uint64_t buried = 0;        // dead without a reason
  std::uint64_t contradicted = 0;  // dead after a success
  std::uint64_t overtried = 0;     // crashed more often than their attempts allow
  std::uint64_t unexplained_duplicates = 0;
  std::uint64_t unexplained_overlaps = 0;
  std::uint64_t exclusive_overlaps =
      0;  // not excused by any fault, unless nothing could have killed it

  struct Repeated {
    std::uint64_t all = 0;
    std::uint64_t finished = 0;  // of these, the earlier run had succeeded
  };
  std::map<std::string, Repeated> duplicates_by;  // by the kind of fault that explains them
  std::map<Scope, std::uint64_t> duplicates_within;
  // Share of the time from the first start to the last one in which a fault that hit everything
  // would explain a duplicate of any task; by kind of fault, and for all kinds together.
  std::map<std::string, double> excused_by;
  double excused = 0;

  // A dead task whose handler killed its worker, or its host, each time.
  struct Poison {
    std::string tag;
    bool host = false;
    std::uint64_t runs = 0;
  };
  std::vector<Poison> poison;

  // For each run in which a worker was killed: time until its task started again.
  struct Restart {
    std::string kind;  // kind of the fault
    Nanoseconds after = 0;
    bool disturbed = false;  // another fault was active besides the kill of one worker
  };
  std::vector<Restart> restarts;

  std::vector<std::string> complaints;  // the first of them, for people
  std::vector<std::string> doubtful;    // tags of tasks that ran unexpectedly

  [[nodiscard]] bool clean() const {
    return lost + unfinished + unexpected + doubled + torn + buried + contradicted + overtried +
               unexplained_duplicates + unexplained_overlaps + exclusive_overlaps ==
           0;
  }
};

// Pure: the same evidence gives the same verdict. A duplicate is explained by a fault that hit the
// worker of the earlier run between the two starts; the narrowest fault is chosen. A fault that hit
// everything must have begun before the latest acknowledgement of the earlier run. An overlap is
// explained only by a fault that left that worker alive.
Verdict check(const Evidence& evidence);

}  // namespace allot::fault

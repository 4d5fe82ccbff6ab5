// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fault/evidence.h"

namespace allot::fault {

// What a fault hit that explains something, the narrowest first.
enum class Scope { kWorker, kPartition, kHost, kAll };

struct Verdict {
  std::uint64_t acknowledged = 0;  // tasks whose submission was acknowledged
  std::uint64_t refused = 0;
  std::uint64_t unknown = 0;        // the reply was lost
  std::uint64_t unknown_exist = 0;  // of these, there
  std::uint64_t runs = 0;           // handlers that started
  std::uint64_t crashes = 0;        // handlers that raised SIGSEGV, as told
  std::uint64_t duplicates = 0;     // starts although no handler had asked for another
  std::uint64_t overlaps = 0;       // starts while an earlier run of the same task went on
  std::uint64_t frozen_overlaps =
      0;                             // of these, in an exclusive queue whose whole host stood still
  std::uint64_t dead_as_wanted = 0;  // their handler said fail
  std::uint64_t dead_by_attempts = 0;  // they used up their attempts

  // Must all be 0.
  std::uint64_t lost = 0;          // acknowledged, but neither finished nor in a table
  std::uint64_t unfinished = 0;    // still in the table task
  std::uint64_t unexpected = 0;    // ran or exists although refused, or never submitted
  std::uint64_t doubled = 0;       // one submission, two tasks
  std::uint64_t torn = 0;          // batches of which only a part exists
  std::uint64_t buried = 0;        // dead without a reason
  std::uint64_t contradicted = 0;  // dead, though it had succeeded
  std::uint64_t overtried = 0;     // crashed more often than they have attempts
  std::uint64_t unexplained_duplicates = 0;
  std::uint64_t unexplained_overlaps = 0;
  std::uint64_t exclusive_overlaps =
      0;  // no fault is an excuse, unless nobody could have killed it

  struct Repeated {
    std::uint64_t all = 0;
    std::uint64_t finished = 0;  // of these, the earlier run had said success
  };
  std::map<std::string, Repeated> duplicates_by;  // the kind of fault that explains them
  std::map<Scope, std::uint64_t> duplicates_within;
  // Of the time from the first start to the last one: the share in which a fault that hit all would
  // explain a duplicate of any task; by kind of fault, and of all kinds together.
  std::map<std::string, double> excused_by;
  double excused = 0;

  // A task that is dead and whose handler took down its worker, or its host, each time.
  struct Poison {
    std::string tag;
    bool host = false;
    std::uint64_t runs = 0;
  };
  std::vector<Poison> poison;

  // For each run in which a worker was killed: how long it took until its task started again.
  struct Restart {
    std::string kind;  // of fault
    Nanoseconds after = 0;
    bool disturbed = false;  // another fault than the kill of one worker was at work
  };
  std::vector<Restart> restarts;

  std::vector<std::string> complaints;  // the first of them, for people
  std::vector<std::string> doubtful;    // the tags of tasks that ran as they should not have

  [[nodiscard]] bool clean() const {
    return lost + unfinished + unexpected + doubled + torn + buried + contradicted + overtried +
               unexplained_duplicates + unexplained_overlaps + exclusive_overlaps ==
           0;
  }
};

// Pure: the same evidence gives the same verdict. A duplicate is explained by a fault that hit the
// worker of the earlier run between the two starts, the narrowest that fits; a fault that hit all
// has to have begun before the earlier run must have been acknowledged. An overlap is explained
// only by a fault that left that worker alive.
Verdict check(const Evidence& evidence);

}  // namespace allot::fault

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "ipc/board.h"
#include "queue/look/stuck.h"
#include "queue/model/catalog.h"
#include "worker/process/session.h"

namespace allot::worker {

// Work that one worker at a time does for a queue now and then: its purge (C10) and the search for
// stuck tasks (C9). It happens between two leases, a little at a time; a queue that asks for
// neither costs only the purge of its long-free keys, once an hour.
class Duties {
 public:
  // `served` are the queues of this worker, with their keys.
  struct Served {
    queue::QueueInfo info;
    const config::Queue* keys;
    bool by_this_host = true;  // false: no pool serves it here, and only on_stuck is looked after
  };
  Duties(Session& session, ipc::Board& board, const std::vector<Served>& served);

  // Costs one look at the clock, unless it is time.
  void look();

  // Says that a task was put back because no handler here knows its type. Its key is a new one each
  // time, so stuck_waiting.sql does not find it; whoever puts it back knows it by its id.
  void unknown_type(const queue::TaskId& id, const std::string& type);

 private:
  enum class Kind { kPurge, kStuck, kUnique };
  struct Duty {
    Kind kind;
    Served queue;
    Nanos again_ns = 0;  // CLOCK_BOOTTIME; nothing to do before
    Nanos mine_until_ns = 0;
    std::string after{};           // kUnique: the key that the sweep has reached
    std::set<std::string> told{};  // kStuck: the keys of what was found the last time
    std::map<std::string, queue::TaskId> unknown{};  // kStuck: the oldest task of each type
    std::set<std::string> told_unknown{};
  };

  void add(Kind kind, const Served& queue);
  void do_now(Duty& duty);
  [[nodiscard]] bool take(Duty& duty, Nanos now);
  // True: there is more to do.
  bool purge(const Duty& duty);
  bool sweep(Duty& duty);
  void tell_stuck(Duty& duty);
  void tell_unknown(Duty& duty);
  std::string tell(const Served& queue, const std::set<std::string>& told, const char* what,
                   const queue::Stuck& stuck);
  bool submit(const Served& queue, const std::string& unique_key, std::chrono::hours for_so_long,
              const std::string& payload);

  Session& session_;
  ipc::Board& board_;
  std::vector<Duty> duties_;
  Nanos next_ns_ = 0;
};

// The queues of this configuration that no pool of this host serves. If they are stuck, some worker
// of another queue has to say so.
std::vector<const config::Queue*> unserved(const config::Settings& settings);

// Logs one line for each hook of these queues that would do nothing. Makes the queues of this
// configuration.
void check_hooks(Session& session, const config::Settings& settings,
                 const std::vector<Duties::Served>& served);

}  // namespace allot::worker

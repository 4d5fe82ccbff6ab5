// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "ipc/board.h"
#include "queue/catalog.h"
#include "queue/purge.h"
#include "worker/session.h"

namespace allot::worker {

// What is to be done for a queue now and then, by one worker of all: its purge (C10) and the look
// for what is stuck (C9). Between two leases, a little at a time; a queue that asks for neither
// costs nothing but the keys that were freed long ago, once an hour.
class Duty {
 public:
  // `served`: the queues of this worker, with their keys.
  struct Served {
    queue::QueueInfo info;
    const config::Queue* keys;
  };
  Duty(Session& session, ipc::Board& board, const std::vector<Served>& served);

  // One look at the clock, unless it is time.
  void look();

 private:
  enum class Kind { kPurge, kStuck, kUnique };
  struct Chore {
    Kind kind;
    Served queue;
    Nanos again_ns = 0;  // CLOCK_BOOTTIME; not before
    Nanos mine_until_ns = 0;
    std::string after{};  // kUnique: where the sweep is
  };

  void add(Kind kind, const Served& queue);
  void do_now(Chore& chore);
  [[nodiscard]] bool take(Chore& chore, Nanos now);
  // True: there is more to do.
  bool purge(const Chore& chore);
  bool sweep(Chore& chore);
  void tell_stuck(const Served& queue);
  bool submit(const Served& queue, const std::string& unique_key, std::chrono::hours for_so_long,
              const std::string& payload);

  Session& session_;
  ipc::Board& board_;
  std::vector<Chore> chores_;
  Nanos next_ns_ = 0;
};

// Where a hook of these queues would do nothing: one line of the log each. Makes the queues that
// this configuration describes.
void check_hooks(Session& session, const config::Settings& settings,
                 const std::vector<Duty::Served>& served);

}  // namespace allot::worker

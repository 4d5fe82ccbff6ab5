// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "ipc/board.h"
#include "queue/look/stuck.h"
#include "queue/model/catalog.h"
#include "queue/submit/submit.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "steward/unknown_tasks.h"
#include "worker/process/session.h"

namespace allot::steward {

using worker::Session;

// Periodic work that one host at a time does for a queue: its purge (C10), the sweep of its
// long-free keys, and the search for stuck tasks (C9).
class Duties : public Chore {
 public:
  // A queue of this configuration, with its keys.
  struct Served {
    queue::QueueInfo info;
    const config::Queue* keys;
    bool by_this_host = true;  // false: no local pool serves it, and only on_stuck applies
  };
  Duties(Session& session, ipc::Board& board, Leadership& leadership, UnknownTasks& unknown,
         const std::vector<Served>& served);

  void look() override;
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }
  void finish() override;

 private:
  enum class Kind { kPurge, kStuck, kUnique };
  struct Duty {
    Kind kind;
    Served queue;
    queue::DutyName name;
    Nanos again_ns = 0;            // CLOCK_BOOTTIME; not due before
    bool under_way = false;        // a purge or a sweep that has more to do
    std::string after{};           // kUnique: position of the sweep
    Nanos unknown_ns = 0;          // kStuck: time of the next check of deferred tasks
    std::set<std::string> told{};  // kStuck: keys of the last findings
    std::set<std::string> told_unknown{};
  };

  void add(Kind kind, const char* name, const Served& queue);
  // True: there is more to do.
  bool do_now(Duty& duty);
  bool do_as_leader(Duty& duty);
  [[nodiscard]] Nanos until_due(const Duty& duty) const;
  bool purge(const Duty& duty);
  bool sweep(Duty& duty);
  void tell_stuck(Duty& duty);
  void tell_unknown(Duty& duty);
  std::string tell(const Served& queue, const std::set<std::string>& told, const char* what,
                   const queue::Stuck& stuck);
  bool submit(const Served& queue, const std::string& payload, const queue::SubmitOptions& options);

  Session& session_;
  ipc::Board& board_;
  Leadership& leadership_;
  UnknownTasks& unknown_;
  std::vector<Duty> duties_;
  std::string unusable_;  // why findings of a duty could not be reported
  Nanos next_ns_ = 0;
};

// Queues of this configuration for its steward: those that a pool of this host serves, and others
// only if they have an on_stuck. Creates missing ones.
std::vector<Duties::Served> served_by(Session& session, const config::Settings& settings);

// Logs one line for each hook of these queues that would do nothing. Creates the queues of this
// configuration.
void check_hooks(Session& session, const config::Settings& settings,
                 const std::vector<Duties::Served>& served);

}  // namespace allot::steward

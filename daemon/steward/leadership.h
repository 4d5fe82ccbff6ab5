// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "queue/verbs/duty.h"
#include "steward/chore.h"
#include "worker/process/session.h"

namespace allot::steward {

// Which duties this host leads, of those that it wants. A host that leads all of them sends one
// statement in each round, one that leads none reads once, and as soon as the term of somebody else
// may be over; only where one is, it claims.
//
// Leading saves the others the work and permits nothing (S46): whatever a leader writes depends on
// the rows that it is about. For one thread.
class Leadership : public Chore {
 public:
  Leadership(worker::Session& session, queue::Holder holder)
      : session_(session), store_(std::move(holder)) {}

  // From the next round on. Makes the duty's row where there is none.
  void want(queue::DutyName duty);
  // The same of a duty that is claimed only by the host which leads that other one, so that a host
  // which leads all of them still sends one statement in each round.
  void want_with(queue::DutyName duty, queue::DutyName other);

  // Costs one look at the clock, unless it is time. A database that is away is waited for, as in
  // Session::call().
  void round();
  void look() override { round(); }
  [[nodiscard]] Nanos next_ns() const override { return next_ns_; }
  // A drain that was too short for a round does one before it leaves.
  void finish() override { round(); }

  // By this host's clock since the last renewal, or claim, was sent: it ends before others may
  // lead, whatever this process and the network were busy with.
  [[nodiscard]] bool leads(const queue::DutyName& duty) const;

  // Whether a viewer has looked at workers in the last 10 s (queue::kViewersDuty).
  [[nodiscard]] bool viewed() const;

  // How long ago the duty was done well, by whichever host. nullopt: never, as far as this one has
  // seen; where it leads, it has looked when it began to.
  [[nodiscard]] std::optional<Nanos> since_last_run(const queue::DutyName& duty) const;

  // What becomes of a duty, for people: the next renewal writes it, and costs no more for that. An
  // error stays until the duty went well.
  void ran(const queue::DutyName& duty);
  void failed(const queue::DutyName& duty, const std::string& error);

  // Writes what is left to tell and gives all duties back, so that another host goes on at once.
  // After that, round() does nothing. Tries once: what cannot be given back ends by itself.
  void leave();

 private:
  struct Wanted {
    bool ours = false;                    // the last answer said so
    Nanos until_ns = 0;                   // while that is ahead, nobody else may lead
    std::optional<std::int64_t> ran_ns;   // CLOCK_BOOTTIME, perhaps from before this host's start
    std::optional<queue::DutyName> with;  // of want_with()
  };
  bool renew(const queue::DutyNames& duties, Nanos& sent_ns);
  void see_and_claim(const queue::DutyNames& renewed, Nanos sent_ns);
  void make_missing();
  [[nodiscard]] std::vector<queue::SeenDuty> to_claim() const;
  void claim(std::span<const queue::SeenDuty> over);
  void see();
  void take_in(const queue::DutyNames& confirmed, Nanos sent_ns);
  void come_back_in_time();
  [[nodiscard]] queue::DutyNames ours() const;

  worker::Session& session_;
  queue::DutyStore store_;
  std::map<queue::DutyName, Wanted> wanted_;
  std::vector<queue::SeenDuty> seen_;  // by the last look
  Nanos seen_ns_ = 0;
  Nanos viewed_ns_ = 0;  // the last look that saw a viewer; 0: none has
  queue::DutyNotes notes_;
  Nanos next_ns_ = 0;
  bool claimed_ = false;  // there may be something to give back
  bool left_ = false;
};

}  // namespace allot::steward

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
#include "process/session.h"
#include "queue/verbs/duty.h"

namespace allot::steward {

// Which of its candidate duties this host leads; for the chores. A host that leads all of them
// sends one statement in each round. A host that leads none reads once, and again as soon as
// another host's term may be over; it takes only a term that is over.
//
// Leading saves the others the work and permits nothing (S46): every write of a leader is
// conditioned on the rows that it changes. For one thread.
class Leadership {
 public:
  Leadership(process::Session& session, queue::Holder holder)
      : session_(session), store_(std::move(holder)) {}

  // Makes this host a candidate from the next round on. Creates the duty's row if it is missing.
  void want(queue::DutyName duty);
  // The same for a duty that only the leader of `other` takes, so that a host which leads all of
  // them still sends one statement in each round.
  void want_with(const queue::DutyName& duty, queue::DutyName other);

  // Costs one clock read, unless it is time. Waits for a database that is away, as Session::call()
  // does.
  void round();
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }

  // By this host's clock since the last renewal or take was sent: it ends before others may
  // lead, however busy this process and the network were.
  [[nodiscard]] bool leads(const queue::DutyName& duty) const { return term(duty) != 0; }
  // Number of the term, which is a new one after every take; 0: this host does not lead.
  [[nodiscard]] std::uint64_t term(const queue::DutyName& duty) const;

  // Whether a viewer has read the workers in the last 10 s (queue::kViewersDuty).
  [[nodiscard]] bool viewed() const;

  // Time since the duty last succeeded on any host. nullopt: never, as far as this host knows; a
  // leader has read it when its term began.
  [[nodiscard]] std::optional<Nanos> since_last_run(const queue::DutyName& duty) const;

  // Result of a duty, for people: the next renewal writes it, at no extra cost. An error stays
  // until the duty succeeds.
  void ran(const queue::DutyName& duty);
  void failed(const queue::DutyName& duty, const std::string& error);

  // Writes pending results and gives all duties back, so that another host continues at once. After
  // that, round() does nothing. Tries once: a duty that cannot be given back ends by itself.
  void leave();

 private:
  struct Candidate {
    bool ours = false;                    // by the last answer
    std::uint64_t term = 0;               // number of the last one that was ours
    Nanos until_ns = 0;                   // no other host may lead before
    std::optional<std::int64_t> ran_ns;   // CLOCK_BOOTTIME, perhaps from before this host's start
    std::optional<queue::DutyName> with;  // see want_with()
  };
  bool renew(const queue::DutyNames& duties, Nanos& sent_ns);
  void see_and_take(const queue::DutyNames& renewed, Nanos sent_ns);
  void make_missing();
  [[nodiscard]] std::vector<queue::SeenDuty> to_take() const;
  void take_terms(std::span<const queue::SeenDuty> over);
  void see();
  void take_in(const queue::DutyNames& confirmed, Nanos sent_ns);
  void come_back_in_time();
  [[nodiscard]] queue::DutyNames ours() const;

  process::Session& session_;
  queue::DutyStore store_;
  std::map<queue::DutyName, Candidate> candidates_;
  std::vector<queue::SeenDuty> seen_;  // by the last poll
  Nanos seen_ns_ = 0;
  Nanos viewed_ns_ = 0;  // last poll that saw a viewer; 0: never
  queue::DutyNotes notes_;
  Nanos next_ns_ = 0;
  bool claimed_ = false;  // there may be something to give back
  bool left_ = false;
};

}  // namespace allot::steward

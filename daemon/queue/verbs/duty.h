// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/model/duty.h"
#include "queue/model/lease.h"

namespace allot::queue {

// A duty as one look at the table showed it.
struct SeenDuty {
  DutyName duty;
  std::optional<std::uint64_t> holder;  // nullopt: the row names nobody
  std::string free_at;
  bool over = false;                                 // may be claimed
  std::chrono::microseconds remaining{0};            // of its term, by the database's clock
  std::optional<std::chrono::microseconds> ran_ago;  // nullopt: never
};

// Makes a row for each duty that has none; the others keep theirs as it is.
void make_duties(db::Connection& db, const DutyNames& duties);

// What a leader did since it told the last time, and what went wrong with the others.
struct DutyNotes {
  DutyNames ran;
  std::map<DutyName, std::string> failed;
};

// Who leads which duty. Whoever leads may save the others the work, and nothing else: two may lead
// at once (S46), after a step of the clock, or while one of them has not noticed that it lost.
// Each verb may be sent again when its reply was lost.
class DutyStore {
 public:
  explicit DutyStore(Holder holder) : holder_(std::move(holder)) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }

  // Those of `duties` that have a row; the others want make_duties().
  static std::vector<SeenDuty> watch(db::Connection& db, const DutyNames& duties);

  // Begins terms for those that watch() showed over. Returns how many are the holder's now: others
  // may have been faster.
  [[nodiscard]] std::size_t claim(db::Connection& db, std::span<const SeenDuty> over) const;

  // Goes on with the holder's terms, and writes down its notes about them. Returns how many are the
  // holder's yet.
  [[nodiscard]] std::size_t renew(db::Connection& db, const DutyNames& duties,
                                  const DutyNotes& notes) const;

 private:
  Holder holder_;
};

// Says that a viewer looks at workers, for a term.
void note_viewer(db::Connection& db);

// Ends all terms of a holder that leaves. Returns how many there were. Those of one that died end
// by themselves (queue::kDutyTtl).
std::size_t return_duties(db::Connection& db, std::uint64_t holder);

}  // namespace allot::queue

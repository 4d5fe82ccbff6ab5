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

// A duty from one read of the table.
struct SeenDuty {
  DutyName duty;
  std::optional<std::uint64_t> holder;  // nullopt: no holder
  std::string free_at;
  bool over = false;                                 // may be claimed
  std::chrono::microseconds remaining{0};            // of its term, by the database's clock
  std::optional<std::chrono::microseconds> ran_ago;  // nullopt: never
};

// Makes missing rows of duties; existing rows stay unchanged.
void make_duties(db::Connection& db, const DutyNames& duties);

// Duties that a leader has done since its last report, and the errors of the others.
struct DutyNotes {
  DutyNames ran;
  std::map<DutyName, std::string> failed;
};

// Terms of duties. Leading a duty only saves other hosts the work: two may lead at once (S46),
// after a clock change, or until one of them notices that it lost. Each verb may be sent again
// after a lost reply.
class DutyStore {
 public:
  explicit DutyStore(Holder holder) : holder_(std::move(holder)) {}

  [[nodiscard]] const Holder& holder() const { return holder_; }

  // The duties among `duties` that have a row; the others need make_duties().
  static std::vector<SeenDuty> watch(db::Connection& db, const DutyNames& duties);

  // Begins terms for duties that watch() showed as over. Returns how many this holder has now:
  // other holders may have been faster.
  [[nodiscard]] std::size_t take_terms(db::Connection& db, std::span<const SeenDuty> over) const;

  // Extends the holder's terms, and writes its notes about them. Returns how many it still has.
  [[nodiscard]] std::size_t renew(db::Connection& db, const DutyNames& duties,
                                  const DutyNotes& notes) const;

 private:
  Holder holder_;
};

// Records for one term that a viewer shows workers.
void note_viewer(db::Connection& db);

// Ends all terms of a leaving holder, and returns their number. Terms of a dead holder end by
// themselves (queue::kDutyTtl).
std::size_t return_duties(db::Connection& db, std::uint64_t holder);

}  // namespace allot::queue

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/schedules/policy.h"
#include "queue/schedules/tick.h"
#include "queue/submit/address.h"
#include "schedule/calendar.h"

namespace allot::steward {

// Submits the tasks of schedules when they are due (E1). Any number of hosts may do this at once:
// each tick is conditioned on its schedule's row (S33), and a leader saves the others the work.
class Ticker {
 public:
  // Number of new tasks by queue id: wakes the workers of this host.
  using Ring = std::function<void(const std::map<std::uint32_t, std::size_t>& tasks)>;
  Ticker(schedule::Calendar& calendar, Ring ring)
      : calendar_(calendar),
        ring_(std::move(ring)),
        addresses_(
            [this](db::Connection& /*db*/, const std::string& name) { return queues_.at(name); }) {}

  // Reads schedules that are due soon, every five seconds, and submits due ticks, for at most a
  // twentieth of a second besides the statement in progress. Throws db::DbError of class kGone, and
  // reads again then: the rows say which ticks are done.
  void poll(db::Connection& db);
  // Time of the next poll(): CLOCK_BOOTTIME.
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }
  // Drops what was read: another host may have led since.
  void forget();

 private:
  // A schedule that is due soon, as of the last read.
  struct Due {
    queue::DueSchedule seen;
    Nanos at_ns = 0;     // by this host's clock
    Nanos again_ns = 0;  // not before this time
    std::uint32_t failures = 0;
  };
  // One version of a schedule, and its next ticks.
  struct Known {
    queue::Schedule schedule;
    bool large = false;  // its payload is not kept here
    std::vector<schedule::Instant> upcoming{};
  };
  struct Job {
    std::uint32_t schedule_id = 0;
    std::string name;
    std::vector<queue::Tick> steps;
  };
  using Ids = std::vector<std::uint32_t>;

  void read(db::Connection& db);
  void submit_due(db::Connection& db);
  [[nodiscard]] Ids due_now(Nanos now) const;
  void fetch(db::Connection& db, const Ids& ids);
  void read_queues(db::Connection& db);
  // Queue of its tasks; nullopt: no queue of that name.
  std::optional<queue::QueueInfo> queue_of(db::Connection& db, const queue::ScheduleSpec& spec);
  // Leaves out schedules that wait or fail.
  std::vector<Job> jobs_of(db::Connection& db, const Ids& ids);
  std::optional<Job> job_of(db::Connection& db, Due& due, Known& known,
                            const queue::QueueInfo& queue, std::optional<queue::Moment> free_since);
  queue::LaterTicks later_ticks(Known& known, queue::Moment next_run,
                                const queue::Question& question);
  // Keys of schedules whose tasks must not overlap: see queue::free_keys().
  queue::FreeKeys keys_of(db::Connection& db, const Ids& ids);
  void send(db::Connection& db, std::vector<Job> jobs);
  void send_single(db::Connection& db, const Job& job);
  void done(const std::vector<Job>& jobs, const std::vector<std::optional<queue::TaskId>>& results);
  void went_on(const Job& job);
  void fail(db::Connection& db, Due& due, const std::string& name, const std::string& error);
  static void wait(Due& due, Nanos first, Nanos most);
  [[nodiscard]] queue::Moment database_time(Nanos at) const;
  void plan_next_poll(Nanos now);

  schedule::Calendar& calendar_;
  Ring ring_;
  std::map<std::uint32_t, Due> due_;
  std::map<std::uint32_t, Known> known_;
  std::map<std::string, queue::QueueInfo> queues_;
  queue::Addresses addresses_;
  std::size_t most_read_ = 500;
  queue::Moment clock_{};  // database time at clock_ns_ of this host
  Nanos clock_ns_ = 0;
  Nanos read_again_ns_ = 0;
  Nanos queues_until_ns_ = 0;
  Nanos next_ns_ = 0;
};

}  // namespace allot::steward

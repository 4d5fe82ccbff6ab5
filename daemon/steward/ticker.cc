// SPDX-License-Identifier: Apache-2.0
// Rule: S37.
#include "steward/ticker.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "log/log.h"

namespace allot::steward {
namespace {

using queue::Moment;
using std::chrono::microseconds;
using std::chrono::seconds;

constexpr Nanos kReadEvery = 5 * kSecond;
constexpr seconds kAhead{6};  // more than kReadEvery, or a tick is late by the difference
// Limit by which this host's clock may gain on the database clock between two reads; a tick that is
// sent too early is refused, and sent again only later.
constexpr Nanos kClockMargin = 2 * kMilli;
constexpr Nanos kSlice = 50 * kMilli;
constexpr std::size_t kMostAtOnce = 100;
constexpr std::size_t kMostBytes = 6 << 20;  // with escapes they may be twice as long
constexpr std::size_t kMostKnown = 10'000;
// Range and number of ticks in one request to the calendar. New rules of a zone are noticed after
// this time.
constexpr schedule::Instant kAskedAhead = 60;
constexpr std::size_t kAskedAtOnce = 64;
constexpr Nanos kWaitPoll = kSecond / 2;
constexpr Nanos kFirstRetry = kSecond;
constexpr Nanos kMostRetry = 30 * kSecond;

schedule::Instant instant_of(Moment moment) {
  return std::chrono::floor<seconds>(moment).time_since_epoch().count();
}

Moment moment_of(schedule::Instant instant) {
  return Moment(seconds(instant));
}

std::size_t bytes_of(const std::vector<queue::Tick>& steps) {
  std::size_t bytes = 0;
  for (const queue::Tick& step : steps) bytes += step.task ? step.task->payload.size() : 0;
  return bytes;
}

}  // namespace

void Ticker::poll(db::Connection& db) {
  try {
    if (boot_ns() >= read_again_ns_) read(db);
    submit_due(db);
  } catch (const db::DbError& error) {
    forget();
    throw;
  }
  plan_next_poll(boot_ns());
}

void Ticker::forget() {
  due_.clear();
  read_again_ns_ = 0;
}

void Ticker::plan_next_poll(Nanos now) {
  next_ns_ = std::max(read_again_ns_, now);
  for (const auto& [id, due] : due_) {
    next_ns_ = std::min(next_ns_, std::max(due.at_ns, due.again_ns));
  }
}

void Ticker::read(db::Connection& db) {
  const auto rows = queue::due_schedules(db, kAhead, most_read_);
  const Nanos now = boot_ns();
  std::map<std::uint32_t, Due> due;
  for (const queue::DueSchedule& row : rows) {
    Due& one = due[row.schedule_id];
    const auto before = due_.find(row.schedule_id);
    if (before != due_.end() && before->second.seen.version == row.version &&
        before->second.seen.next_run == row.next_run) {
      one = before->second;
    }
    one.seen = row;
    const Nanos ahead = in_nanos(std::max(row.due_in, microseconds(0)));
    one.at_ns = now + ahead + (ahead > 0 ? kClockMargin : 0);
    clock_ = row.clock;
    clock_ns_ = now;
  }
  due_ = std::move(due);
  if (known_.size() > kMostKnown) known_.clear();
  // Schedules that wait or fail come first, and must not hide the others.
  if (rows.size() >= most_read_) most_read_ *= 2;
  read_again_ns_ = now + kReadEvery;
}

Moment Ticker::database_time(Nanos at) const {
  return clock_ + microseconds((at - clock_ns_) / kMicro);
}

Ticker::Ids Ticker::due_now(Nanos now) const {
  Ids ids;
  for (const auto& [id, due] : due_) {
    if (due.at_ns <= now && due.again_ns <= now) ids.push_back(id);
    if (ids.size() == kMostAtOnce) break;
  }
  return ids;
}

void Ticker::submit_due(db::Connection& db) {
  const Nanos until = boot_ns() + kSlice;
  for (Nanos now = boot_ns(); now < until; now = boot_ns()) {
    const Ids ids = due_now(now);
    if (ids.empty()) return;
    fetch(db, ids);
    read_queues(db);
    send(db, jobs_of(db, ids));
  }
}

// A schedule with a newer version is read again.
void Ticker::fetch(db::Connection& db, const Ids& ids) {
  Ids missing;
  for (const std::uint32_t id : ids) {
    const auto at = known_.find(id);
    if (at == known_.end() || at->second.schedule.version != due_.at(id).seen.version) {
      missing.push_back(id);
    }
  }
  if (missing.empty()) return;
  for (queue::FetchedSchedule& fetched : queue::fetch_schedules(db, missing)) {
    known_[fetched.schedule.schedule_id] = {std::move(fetched.schedule), fetched.large};
  }
  for (const std::uint32_t id : missing) {
    const auto at = known_.find(id);
    if (at != known_.end() && at->second.schedule.version == due_.at(id).seen.version) continue;
    due_.erase(id);
    read_again_ns_ = 0;
  }
}

void Ticker::read_queues(db::Connection& db) {
  const Nanos now = boot_ns();
  if (now < queues_until_ns_) return;
  queues_.clear();
  for (queue::QueueInfo& queue : queue::list_queues(db)) {
    std::string name = queue.name;
    queues_.emplace(std::move(name), std::move(queue));
  }
  queues_until_ns_ = now + queue::Addresses::kKept;
}

std::optional<queue::QueueInfo> Ticker::queue_of(db::Connection& db,
                                                 const queue::ScheduleSpec& spec) {
  if (queues_.count(spec.queue) == 0) return std::nullopt;
  return addresses_.find(db, spec.queue, spec.type);
}

queue::FreeKeys Ticker::keys_of(db::Connection& db, const Ids& ids) {
  std::vector<std::string> keys;
  for (const std::uint32_t id : ids) {
    if (due_.count(id) == 0) continue;
    const queue::ScheduleSpec& spec = known_.at(id).schedule.spec;
    if (spec.overlap != queue::Overlap::kAllow) keys.push_back(queue::overlap_key(spec));
  }
  return queue::free_keys(db, keys);
}

std::vector<Ticker::Job> Ticker::jobs_of(db::Connection& db, const Ids& ids) {
  const queue::FreeKeys keys = keys_of(db, ids);
  std::vector<Job> jobs;
  for (const std::uint32_t id : ids) {
    const auto at = due_.find(id);
    if (at == due_.end()) continue;
    Due& due = at->second;
    Known& known = known_.at(id);
    const queue::ScheduleSpec& spec = known.schedule.spec;
    const bool waits = spec.overlap == queue::Overlap::kWait;
    const auto key = keys.find(queue::overlap_key(spec));
    const bool overlaps =
        key != keys.end() && !key->second && !mutant::removed("overlap_queues");  // S68
    if (overlaps && waits) {
      due.again_ns = boot_ns() + kWaitPoll;
      continue;
    }
    const auto free_since = waits && key != keys.end() ? key->second : std::nullopt;
    const auto queue = queue_of(db, spec);
    if (!queue) {
      fail(db, due, spec.name, "unknown queue '" + spec.queue + "'");
      continue;
    }
    if (auto job = job_of(db, due, known, *queue, free_since)) {
      for (queue::Tick& step : job->steps) step.overlaps = overlaps;
      jobs.push_back(std::move(*job));
    }
  }
  return jobs;
}

std::optional<Ticker::Job> Ticker::job_of(db::Connection& db, Due& due, Known& known,
                                          const queue::QueueInfo& queue,
                                          std::optional<Moment> free_since) {
  const std::string& name = known.schedule.spec.name;
  try {
    queue::Schedule schedule = known.schedule;
    if (known.large) {
      const auto whole = queue::fetch_whole(db, schedule.schedule_id);
      if (!whole || whole->version != schedule.version) {
        read_again_ns_ = 0;
        wait(due, kFirstRetry, kFirstRetry);
        return std::nullopt;
      }
      schedule = *whole;
    }
    schedule.next_run = due.seen.next_run;
    queue::validate(schedule.spec, queue);
    const Moment now = database_time(boot_ns());
    const auto later = later_ticks(known, due.seen.next_run, queue::question_of(schedule, now));
    return Job{schedule.schedule_id, name,
               queue::steps_of(schedule, queue, now, later, free_since)};
  } catch (const db::DbError&) {
    throw;
  } catch (const Error& error) {
    fail(db, due, name, error.what());
    return std::nullopt;
  }
}

queue::LaterTicks Ticker::later_ticks(Known& known, Moment next_run,
                                      const queue::Question& question) {
  const schedule::Instant first = instant_of(next_run);
  const schedule::Instant until = std::max(first, instant_of(question.until));
  const queue::ScheduleSpec& spec = known.schedule.spec;
  std::vector<schedule::Instant>& ahead = known.upcoming;
  std::erase_if(ahead, [first](schedule::Instant tick) { return tick <= first; });
  queue::LaterTicks later;
  if (ahead.empty() && until - first <= kAskedAhead) {
    ahead =
        calendar_.upcoming(spec.expression, spec.zone, first, until + kAskedAhead, kAskedAtOnce);
    if (ahead.empty()) return later;  // none will ever come
  }
  if (!ahead.empty() && ahead.back() > until) {
    for (const schedule::Instant tick : ahead) {
      if (tick > until) {
        later.next = moment_of(tick);
        break;
      }
      later.newest.push_back(moment_of(tick));
    }
    later.count = later.newest.size();
    return later;
  }
  ahead.clear();
  const schedule::Missed missed =
      calendar_.missed(spec.expression, spec.zone, first, until, question.most);
  for (const schedule::Instant tick : missed.newest) later.newest.push_back(moment_of(tick));
  later.count = missed.count;
  later.at_least = missed.at_least;
  if (missed.next) later.next = moment_of(*missed.next);
  return later;
}

// Sends as many schedules as fit in one packet, in the order of their numbers, so that two leaders
// wait for each other in one order.
void Ticker::send(db::Connection& db, std::vector<Job> jobs) {
  std::size_t next = 0;
  while (next < jobs.size()) {
    std::vector<Job> some;
    std::vector<queue::Tick> steps;
    std::size_t bytes = 0;
    for (; next < jobs.size(); ++next) {
      const std::size_t more = bytes_of(jobs[next].steps);
      const bool full =
          steps.size() + jobs[next].steps.size() > kMostAtOnce || bytes + more > kMostBytes;
      if (!some.empty() && full) break;
      bytes += more;
      steps.insert(steps.end(), jobs[next].steps.begin(), jobs[next].steps.end());
      some.push_back(std::move(jobs[next]));
    }
    try {
      done(some, queue::send_ticks(db, steps));
      continue;
    } catch (const db::DbError& error) {
      if (error.error_class() == db::ErrorClass::kGone) throw;
    } catch (
        const Error&) {  // NOLINT(bugprone-empty-catch): which of them it was, one by one tells
    }
    for (const Job& job : some) send_single(db, job);
  }
}

void Ticker::send_single(db::Connection& db, const Job& job) {
  Due& due = due_.at(job.schedule_id);
  try {
    done({job}, queue::send_ticks(db, job.steps));
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kGone) throw;
    if (queue::is_refusal(error)) {
      // Another host was first, it was changed, or a clock went back: the row has the answer.
      wait(due, kSecond / 10, kMostRetry);
      read_again_ns_ = std::min(read_again_ns_, due.again_ns);
    } else if (error.is_any_of({db::ErrorClass::kRetryable, db::ErrorClass::kDuplicate})) {
      wait(due, kSecond / 10, kMostRetry);
    } else {
      fail(db, due, job.name, error.what());
    }
  } catch (const Error& error) {
    fail(db, due, job.name, error.what());
  }
}

void Ticker::done(const std::vector<Job>& jobs,
                  const std::vector<std::optional<queue::TaskId>>& results) {
  std::map<std::uint32_t, std::size_t> tasks;
  for (const auto& made : results) {
    if (made) ++tasks[made->partition.queue_id];
  }
  for (const Job& job : jobs) went_on(job);
  ring_(tasks);
}

void Ticker::went_on(const Job& job) {
  for (const queue::Tick& step : job.steps) {
    if (step.dropped == 0) continue;
    log::warn("schedule.dropped",
              {{"schedule", job.name}, {"ticks", step.dropped}, {"reason", step.reason}});
  }
  const queue::Tick& last = job.steps.back();
  const auto at = due_.find(job.schedule_id);
  if (at == due_.end()) return;
  Due& due = at->second;
  if (!last.next_run || !last.due_at) {
    due_.erase(at);
    return;
  }
  const Nanos now = boot_ns();
  const auto ahead = *last.due_at - database_time(now);
  // The next read of the database comes before it.
  if (ahead > kAhead) {
    due_.erase(at);
    return;
  }
  due.seen.next_run = *last.next_run;
  due.seen.error.clear();
  due.at_ns = ahead.count() <= 0 ? now : now + in_nanos(ahead) + kClockMargin;
  due.again_ns = 0;
  due.failures = 0;
}

void Ticker::wait(Due& due, Nanos first, Nanos most) {
  due.again_ns = boot_ns() + std::min(most, first << std::min(due.failures, 10U));
  ++due.failures;
}

void Ticker::fail(db::Connection& db, Due& due, const std::string& name, const std::string& error) {
  wait(due, kFirstRetry, kMostRetry);
  if (due.seen.error == error) return;
  if (queue::fail_schedule(db, due.seen, error)) {
    log::warn("schedule.failed", {{"schedule", name}, {"error", error}});
  }
  due.seen.error = error;
}

}  // namespace allot::steward

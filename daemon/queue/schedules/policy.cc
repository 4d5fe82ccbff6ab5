// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/policy.h"

#include <algorithm>
#include <limits>

#include "base/mutant.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

// Limit of steps per call; the remaining ticks stay due.
constexpr std::size_t kMostSteps = 100;
constexpr std::size_t kMostBytes = 4 << 20;

// "17 ticks", "at least 2000 ticks". failing_schedules.sql relies on the end of a reason.
std::string text_of(std::uint64_t count, bool at_least) {
  return std::string(at_least ? "at least " : "") + std::to_string(count) +
         (count == 1 ? " tick" : " ticks");
}

// Ticks before this moment fell into a pause. If the schedule was resumed while the clock was
// ahead, the stored time is in the future (S57).
Moment pause_end(const Schedule& schedule, Moment now) {
  return std::min(schedule.resumed_at.value_or(Moment::min()), now);
}

class Steps {
 public:
  Steps(const Schedule& schedule, const QueueInfo& queue, Moment now, const LaterTicks& later,
        std::optional<Moment> free_since)
      : schedule_(schedule),
        queue_(queue),
        now_(now),
        later_(later),
        free_since_(free_since.value_or(Moment::min())),
        first_(schedule.next_run.value_or(Moment{})),
        in_pause_until_(pause_end(schedule, now)) {}

  std::vector<Tick> all() {
    if (first_ < in_pause_until_) return dropped_all("in a pause");
    std::vector<Moment> kept = kept_ticks();
    if (kept.empty()) return dropped_all("late");
    return schedule_.spec.overlap == Overlap::kWait ? one_of(kept) : each_of(kept);
  }

 private:
  [[nodiscard]] std::uint64_t count() const { return later_.count + 1; }
  [[nodiscard]] Moment newest() const {
    return later_.newest.empty() ? first_ : later_.newest.back();
  }

  // A tick that waits for a key is late only from the time when the key is free.
  [[nodiscard]] bool is_late(Moment tick) const {
    return now_ - std::max(due_at(schedule_.spec, tick), free_since_) > schedule_.spec.late_after;
  }

  // The newest due ticks, oldest first, without those that the policy drops. Omitted ones are older
  // than all of these.
  [[nodiscard]] std::vector<Moment> kept_ticks() const {
    std::vector<Moment> ticks;
    if (later_.newest.size() == later_.count) ticks.push_back(first_);
    ticks.insert(ticks.end(), later_.newest.begin(), later_.newest.end());
    std::size_t most = schedule_.spec.catch_up;
    if (mutant::removed("catch_up_bound")) most = std::numeric_limits<std::size_t>::max();  // S36
    if (ticks.size() > most) ticks.erase(ticks.begin(), ticks.end() - static_cast<long>(most));
    if (schedule_.spec.late == Late::kAll) return ticks;
    const auto on_time =
        std::find_if(ticks.begin(), ticks.end(), [this](Moment tick) { return !is_late(tick); });
    const bool keeps_one = schedule_.spec.late == Late::kOnce && on_time != ticks.begin();
    ticks.erase(ticks.begin(), keeps_one ? on_time - 1 : on_time);
    return ticks;
  }

  // From the seen tick to the next.
  [[nodiscard]] Tick step(Moment from, std::optional<Moment> to) const {
    Tick tick;
    tick.schedule_id = schedule_.schedule_id;
    tick.version = schedule_.version;
    tick.seen_next_run = from;
    tick.next_run = to;
    if (to) tick.due_at = due_at(schedule_.spec, *to);
    return tick;
  }

  [[nodiscard]] Tick step_with_task(Moment from, Moment at, std::optional<Moment> to) const {
    Tick tick = step(from, to);
    tick.tick = at;
    tick.task = submission_of(schedule_.spec, queue_, at);
    tick.waits = schedule_.spec.overlap == Overlap::kWait;
    tick.taken = schedule_.spec.overlap == Overlap::kAllow
                     ? "another task has its unique key"
                     : "the task of an earlier tick is not finished";
    return tick;
  }

  [[nodiscard]] std::vector<Tick> dropped_all(const std::string& why) const {
    Tick tick = step(first_, later_.next);
    tick.tick = newest();
    tick.newest_dropped = tick.tick;
    tick.dropped = count();
    tick.reason = text_of(tick.dropped, later_.at_least) + " " + why;
    return {std::move(tick)};
  }

  // All dropped ticks come before the first kept one.
  [[nodiscard]] std::vector<Tick> each_of(const std::vector<Moment>& kept) const {
    std::vector<Tick> steps;
    const std::size_t fit = 1 + kMostBytes / (schedule_.spec.payload.size() + 1);
    for (std::size_t i = 0; i < std::min({kept.size(), kMostSteps, fit}); ++i) {
      const auto to = i + 1 < kept.size() ? std::optional(kept[i + 1]) : later_.next;
      steps.push_back(step_with_task(i == 0 ? first_ : kept[i], kept[i], to));
    }
    steps.front().dropped = count() - kept.size();
    if (steps.front().dropped > 0) {
      steps.front().newest_dropped = before(kept.front());
      steps.front().reason = text_of(steps.front().dropped, later_.at_least) + " late";
    }
    return steps;
  }

  // The newest tick before a kept one, as far as known.
  [[nodiscard]] Moment before(Moment kept) const {
    Moment found = first_;
    for (const Moment tick : later_.newest) {
      if (tick < kept) found = tick;
    }
    return found;
  }

  // A waiting schedule makes one task at a time: for the tick that waited, or for the newest one if
  // that is late.
  [[nodiscard]] std::vector<Tick> one_of(const std::vector<Moment>& kept) const {
    const bool waited = !is_late(first_);
    Tick tick = step_with_task(first_, waited ? first_ : kept.back(), later_.next);
    tick.dropped = count() - 1;
    if (tick.dropped > 0) {
      tick.newest_dropped = waited ? newest() : before(kept.back());
      tick.reason = text_of(tick.dropped, later_.at_least) +
                    (waited ? " while a task was not finished" : " late");
    }
    return {std::move(tick)};
  }

  const Schedule& schedule_;
  const QueueInfo& queue_;
  Moment now_;
  const LaterTicks& later_;
  Moment free_since_;
  Moment first_;
  Moment in_pause_until_;
};

}  // namespace

Question question_of(const Schedule& schedule, Moment now) {
  const Moment first = schedule.next_run.value_or(Moment{});
  const Moment pause_ended = pause_end(schedule, now);
  if (first < pause_ended) return {pause_ended - microseconds(1), 1};
  // A tick whose jitter may not be over is left for later.
  return {std::max(first, now - schedule.spec.jitter), schedule.spec.catch_up};
}

std::vector<Tick> steps_of(const Schedule& schedule, const QueueInfo& queue, Moment now,
                           const LaterTicks& later, std::optional<Moment> free_since) {
  return Steps(schedule, queue, now, later, free_since).all();
}

}  // namespace allot::queue

// SPDX-License-Identifier: Apache-2.0
#include "fault/checker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace allot::fault {
namespace {

constexpr std::size_t kMostComplaints = 20;
constexpr std::size_t kMostStories = 100;

struct Run {
  std::string task;
  pid_t pid = 0;
  pid_t parent = 0;
  Nanoseconds start = 0;
  bool parallel = false;
  bool exclusive = false;
  std::optional<Nanoseconds> end{};
  Mark mark = Mark::kStart;  // result
};
using Runs = std::vector<Run>;

struct Span {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};
using Spans = std::vector<Span>;

// Total length covered by at least one of them.
Nanoseconds covered(Spans spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  Nanoseconds sum = 0;
  Nanoseconds up_to = std::numeric_limits<Nanoseconds>::min();
  for (const Span& span : spans) {
    sum += std::max<Nanoseconds>(0, span.end - std::max(span.begin, up_to));
    up_to = std::max(up_to, span.end);
  }
  return sum;
}

bool ends(Mark mark) {
  return mark != Mark::kStart && mark != Mark::kBeside && mark != Mark::kKept &&
         mark != Mark::kHooked;
}

// True if the handler requested another run.
bool asks_again(Mark mark) {
  return mark == Mark::kRetry || mark == Mark::kCrash || mark == Mark::kRaze ||
         mark == Mark::kSnooze || mark == Mark::kRelease || mark == Mark::kStopped ||
         mark == Mark::kThrow || mark == Mark::kHold;
}

// Maximum delay between the end of a task and its entry in the worker's record of finished tasks.
constexpr Nanoseconds kRecording = 200 * kMillisecond;

enum class Deaths { kCount, kDoNotCount };
enum class Deadline { kNone, kAck };

// Scope of a fault for a worker whose allotd is `parent`.
Scope scope_of(const Fault& fault, pid_t parent = 0) {
  if (fault.pid == 0 || fault.reach == Reach::kAll) return Scope::kAll;
  if (fault.reach == Reach::kHost || fault.pid == parent) return Scope::kHost;
  return fault.pid < 0 ? Scope::kPartition : Scope::kWorker;
}

// Ranks faults, best first: deaths explain most, then the narrowest.
int rank_of(const Fault& fault, pid_t parent) {
  return (fault.fatal ? 0 : 10) + static_cast<int>(scope_of(fault, parent));
}

class Check {
 public:
  explicit Check(const Evidence& evidence)
      : evidence_(evidence), exclusive_(evidence.exclusive.begin(), evidence.exclusive.end()) {}

  Verdict judge() {
    for (const Fault& fault : evidence_.faults) faults_[fault.pid].push_back(&fault);
    collect_runs();
    for (const std::string& tag : evidence_.waiting) {
      waiting_.insert(tag);
      complain(verdict_.unfinished, "unfinished", tag);
    }
    dead_.insert(evidence_.dead.begin(), evidence_.dead.end());
    judge_submissions();
    judge_strangers();
    for (const auto& [tag, runs] : runs_) judge_runs(tag, runs);
    judge_dead();
    measure_excuses();
    return std::move(verdict_);
  }

 private:
  void complain(std::uint64_t& counter, const std::string& what, const std::string& about) {
    ++counter;
    if (verdict_.complaints.size() < kMostComplaints)
      verdict_.complaints.push_back(what + ": " + about);
  }

  // Records a task whose story should be printed.
  void doubt(std::uint64_t& counter, const std::string& what, const std::string& tag,
             const std::string& more = {}) {
    complain(counter, what, tag + more);
    auto& doubtful = verdict_.doubtful;
    if (doubtful.size() < kMostStories &&
        std::find(doubtful.begin(), doubtful.end(), tag) == doubtful.end())
      doubtful.push_back(tag);
  }

  void collect_runs() {
    for (const Trace& trace : evidence_.traces) {
      Runs& runs = runs_[trace.tag];
      if (trace.mark == Mark::kStart || trace.mark == Mark::kBeside) {
        ++verdict_.runs;
        starts_[trace.pid].push_back(trace.at);
        runs.push_back({trace.task, trace.pid, trace.parent, trace.at, trace.mark == Mark::kBeside,
                        exclusive_.count(trace.queue) != 0});
        continue;
      }
      if (!ends(trace.mark)) continue;
      // A worker runs a task once at a time, so the last start in this pid is the one that ends.
      const auto started = std::find_if(runs.rbegin(), runs.rend(), [&trace](const Run& run) {
        return run.pid == trace.pid && !run.end;
      });
      if (started == runs.rend()) {
        complain(verdict_.unexpected, "an end without a start", trace.tag);
        continue;
      }
      if (trace.mark == Mark::kCrash || trace.mark == Mark::kRaze) ++verdict_.crashes;
      started->end = trace.at;
      started->mark = trace.mark;
    }
  }

  [[nodiscard]] bool in_a_table(const std::string& tag) const {
    return waiting_.count(tag) != 0 || dead_.count(tag) != 0;
  }
  [[nodiscard]] bool exists(const std::string& tag) const {
    return runs_.count(tag) != 0 || in_a_table(tag);
  }
  [[nodiscard]] bool accounted_for(const std::string& tag) const {
    if (in_a_table(tag) || evidence_.gone.count(tag) != 0) return true;
    const auto found = runs_.find(tag);
    if (found == runs_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [](const Run& run) { return run.mark == Mark::kSuccess; });
  }

  void judge_submissions() {
    for (const Reply& reply : evidence_.replies) {
      std::uint64_t there = 0;
      std::uint64_t missing = 0;
      for (std::uint64_t i = 0; i < reply.count; ++i) {
        const std::string tag = tag_of(reply.submitter, reply.first + i);
        submitted_.insert(tag);
        if (exists(tag)) {
          ++there;
        } else if (evidence_.gone.count(tag) == 0) {
          ++missing;
        }
        judge_submission(tag, reply.answer);
      }
      if (reply.answer != Answer::kUnknown) continue;
      verdict_.unknown_exist += there;
      if (there != 0 && missing != 0)
        complain(verdict_.torn, "a batch of which a part exists", line_of(reply));
    }
  }

  void judge_submission(const std::string& tag, Answer answer) {
    switch (answer) {
      case Answer::kAcknowledged:
        ++verdict_.acknowledged;
        if (!accounted_for(tag)) doubt(verdict_.lost, "lost", tag);
        return;
      case Answer::kRefused:
        ++verdict_.refused;
        if (exists(tag)) complain(verdict_.unexpected, "refused, but there", tag);
        return;
      case Answer::kUnknown:
        ++verdict_.unknown;
        // A task that was seen counts as acknowledged: it must not vanish.
        if (exists(tag) && !accounted_for(tag)) doubt(verdict_.lost, "started, then lost", tag);
        return;
    }
  }

  void judge_strangers() {
    std::set<std::string> all = waiting_;
    all.insert(dead_.begin(), dead_.end());
    for (const auto& [tag, runs] : runs_) all.insert(tag);
    for (const std::string& tag : all) {
      if (submitted_.count(tag) == 0) complain(verdict_.unexpected, "never submitted", tag);
    }
  }

  void judge_runs(const std::string& tag, const Runs& runs) {
    const bool one_task = std::all_of(runs.begin(), runs.end(), [&runs](const Run& run) {
      return run.task == runs.front().task;
    });
    if (!one_task && evidence_.renamed.count(tag) == 0)
      doubt(verdict_.doubled, "two tasks of one submission", tag);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      judge_repetition(tag, runs[i - 1], runs[i]);
      judge_overlap(tag, runs, i);
      note_restart(runs[i - 1], runs[i]);
    }
    judge_crashes(tag, runs);
  }

  static bool crashed(const Run& run) {
    return run.mark == Mark::kCrash || run.mark == Mark::kRaze;
  }

  void judge_repetition(const std::string& tag, const Run& before, const Run& after) {
    if (asks_again(before.mark) && *before.end <= after.start) return;
    if (revived(tag, before, after)) return;
    ++verdict_.duplicates;
    const Fault* fault = hit(before, before.start, after.start, Deaths::kCount, Deadline::kAck);
    if (fault == nullptr) fault = stopped_at_start(after);
    if (fault == nullptr) {
      return doubt(verdict_.unexplained_duplicates, "unexplained duplicate", tag,
                   words(before, after));
    }
    Verdict::Repeated& repeated = verdict_.duplicates_by[fault->kind];
    ++repeated.all;
    ++verdict_.duplicates_within[scope_of(*fault, before.parent)];
    if (before.mark == Mark::kSuccess && *before.end <= after.start) ++repeated.finished;
  }

  // True if an operator revived the task.
  [[nodiscard]] bool revived(const std::string& tag, const Run& before, const Run& after) const {
    const auto found = evidence_.revived.find(tag);
    return found != evidence_.revived.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const auto& call) {
             return call.first <= after.start && call.second >= before.start;
           });
  }

  // Earlier runs that may overlap with this one: reported by the kernel, or with a later end. Runs
  // whose worker was killed before count only without another one.
  [[nodiscard]] std::vector<const Run*> besides(const Runs& runs, std::size_t which) const {
    const Run& after = runs[which];
    std::vector<const Run*> alive;
    std::vector<const Run*> killed;
    for (std::size_t i = 0; i < which; ++i) {
      const Run& before = runs[i];
      const bool later = before.end && *before.end > after.start;
      if (!later && !(after.parallel && (!before.end || i + 1 == which))) continue;
      (was_killed(before, after.start) ? killed : alive).push_back(&before);
    }
    return alive.empty() ? killed : alive;
  }

  void judge_overlap(const std::string& tag, const Runs& runs, std::size_t which) {
    const Run& after = runs[which];
    const Run* parallel = nullptr;
    const Fault* fault = nullptr;
    for (const Run* before : besides(runs, which)) {
      if (fault != nullptr) break;
      parallel = before;
      fault = hit(*before, before->start, after.start, Deaths::kDoNotCount);
    }
    if (parallel == nullptr) return;
    ++verdict_.overlaps;
    const Fault* stopped = stopped_at_start(after);
    if (fault == nullptr) fault = stopped;
    if (fault == nullptr)
      doubt(verdict_.unexplained_overlaps, "unexplained overlap", tag, words(*parallel, after));
    if (!after.exclusive) return;
    if (stood_still(parallel->pid, parallel->start, after.start) ||
        (stopped != nullptr && stopped->unguarded)) {
      ++verdict_.frozen_overlaps;
    } else {
      doubt(verdict_.exclusive_overlaps, "exclusive overlap", tag, words(*parallel, after));
    }
  }

  // True if a fault hit the worker between `from` and `to`. A kill shows at once, any other fault
  // also afterwards.
  [[nodiscard]] bool during(const Fault& fault, Nanoseconds from, Nanoseconds to) const {
    const Nanoseconds last = fault.end + (fault.fatal ? 0 : evidence_.recovery);
    return fault.begin <= to && last >= from;
  }
  // The fault that explains most. Deadline::kAck: a fault that hit everything counts only if the
  // run was not acknowledged by then; otherwise it would explain every task that finished at any
  // time before.
  [[nodiscard]] const Fault* hit(const Run& run, Nanoseconds from, Nanoseconds to, Deaths deaths,
                                 Deadline deadline = Deadline::kNone) const {
    const Nanoseconds acknowledged = deadline == Deadline::kAck && run.end
                                         ? std::min(to, *run.end + evidence_.unacknowledged)
                                         : to;
    const Fault* best = nullptr;
    for (const pid_t whom : {pid_t{0}, run.parent, place_of(run.task), run.pid}) {
      const auto found = faults_.find(whom);
      if (found == faults_.end()) continue;
      for (const Fault* fault : found->second) {
        if (fault->fatal && deaths == Deaths::kDoNotCount) continue;
        if (fault->inner && run.end && *run.end + kRecording < fault->begin) continue;
        if (!during(*fault, from, scope_of(*fault) == Scope::kAll ? acknowledged : to)) continue;
        if (best == nullptr || rank_of(*fault, run.parent) < rank_of(*best, run.parent))
          best = fault;
      }
    }
    return best;
  }
  [[nodiscard]] bool was_killed(const Run& run, Nanoseconds before) const {
    const auto found = faults_.find(run.pid);
    return found != faults_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const Fault* fault) {
             return fault->fatal && fault->begin >= run.start && fault->end <= before;
           });
  }
  [[nodiscard]] bool stood_still(pid_t pid, Nanoseconds from, Nanoseconds to) const {
    const auto found = faults_.find(pid);
    return found != faults_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const Fault* fault) {
             return fault->unguarded && during(*fault, from, to);
           });
  }

  // A worker checks its lease's deadline right before it calls the handler. If it is stopped
  // between the two, that one task starts when the worker continues, however late; then the worker
  // checks again. So this explains the first start of a worker during an unfinished stop, but not a
  // second one.
  [[nodiscard]] const Fault* stopped_at_start(const Run& run) const {
    const auto found = faults_.find(run.pid);
    if (found == faults_.end()) return nullptr;
    const std::vector<Nanoseconds>& starts = starts_.at(run.pid);
    for (const Fault* fault : found->second) {
      if (fault->kind.rfind("stop_", 0) != 0) continue;
      if (run.start < fault->begin || run.start > fault->end) continue;
      const auto before = std::count_if(starts.begin(), starts.end(), [&](Nanoseconds start) {
        return start >= fault->begin && start < run.start;
      });
      if (before < static_cast<std::ptrdiff_t>(evidence_.at_once)) return fault;
    }
    return nullptr;
  }

  void note_restart(const Run& before, const Run& after) {
    if (before.end) return;
    const auto found = faults_.find(before.pid);
    if (found == faults_.end()) return;
    for (const Fault* fault : found->second) {
      if (!fault->fatal || fault->begin < before.start || fault->begin > after.start) continue;
      const bool disturbed =
          std::any_of(evidence_.faults.begin(), evidence_.faults.end(), [&](const Fault& other) {
            return (!other.fatal || other.kind != fault->kind) && other.begin <= after.start &&
                   other.end >= fault->begin;
          });
      verdict_.restarts.push_back({fault->kind, after.start - fault->begin, disturbed});
      return;
    }
  }

  // S7, S10: a crash is an attempt. If there was also a fault, the crash may be uncharged.
  void judge_crashes(const std::string& tag, const Runs& runs) {
    unsigned charged = 0;
    unsigned allowed = evidence_.max_attempts;
    if (const auto revived = evidence_.revived.find(tag); revived != evidence_.revived.end())
      allowed *= 1 + static_cast<unsigned>(revived->second.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!crashed(runs[i])) continue;
      // No process was left to charge the first one.
      if (runs[i].mark == Mark::kRaze) allowed = evidence_.max_attempts + 1;
      if (ran_beside_others(runs[i])) continue;
      const Nanoseconds until = i + 1 < runs.size() ? runs[i + 1].start : *runs[i].end;
      if (hit(runs[i], runs[i].start, until, Deaths::kCount) == nullptr) ++charged;
    }
    if (charged > allowed) doubt(verdict_.overtried, "tried too often", tag);
  }

  // Then no task is charged, and each runs alone the next time.
  [[nodiscard]] bool ran_beside_others(const Run& crash) const {
    if (evidence_.at_once == 1) return false;
    for (const auto& [tag, runs] : runs_) {
      for (const Run& run : runs) {
        if (run.pid == crash.pid && run.start != crash.start && run.start <= *crash.end &&
            (!run.end || *run.end + kRecording >= *crash.end))
          return true;
      }
    }
    return false;
  }

  void judge_dead() {
    for (const std::string& tag : dead_) {
      const auto found = runs_.find(tag);
      const Runs none;
      const Runs& runs = found == runs_.end() ? none : found->second;
      if (evidence_.excused.count(tag) == 0) judge_success(tag, runs);
      note_poison(tag, runs);
      if (evidence_.excused.count(tag) != 0) continue;
      if (std::any_of(runs.begin(), runs.end(),
                      [](const Run& run) { return run.mark == Mark::kFail; })) {
        ++verdict_.dead_as_wanted;
      } else if (used_up(runs)) {
        ++verdict_.dead_by_attempts;
      } else {
        doubt(verdict_.buried, "dead without a reason", tag);
      }
    }
    if (dead_.size() != evidence_.dead.size())
      complain(verdict_.doubled, "dead twice", std::to_string(evidence_.dead.size()));
  }

  void note_poison(const std::string& tag, const Runs& runs) {
    if (runs.empty() || !std::all_of(runs.begin(), runs.end(), crashed)) return;
    verdict_.poison.push_back({tag, runs.front().mark == Mark::kRaze, runs.size()});
  }

  // Otherwise a run that starts there, and ends at once, would be excused.
  void measure_excuses() {
    if (evidence_.traces.empty()) return;
    const auto [first, last] =
        std::minmax_element(evidence_.traces.begin(), evidence_.traces.end(),
                            [](const Trace& a, const Trace& b) { return a.at < b.at; });
    std::map<std::string, Spans> by;
    Spans all;
    for (const Fault& fault : evidence_.faults) {
      if (scope_of(fault) != Scope::kAll) continue;
      const Span span{std::max(first->at, fault.begin - evidence_.unacknowledged),
                      std::min(last->at, fault.end + evidence_.recovery)};
      by[fault.kind].push_back(span);
      all.push_back(span);
    }
    const Nanoseconds whole = std::max<Nanoseconds>(1, last->at - first->at);
    const auto share = [whole](Spans spans) {
      return static_cast<double>(covered(std::move(spans))) / static_cast<double>(whole);
    };
    for (auto& [kind, spans] : by) verdict_.excused_by[kind] = share(std::move(spans));
    verdict_.excused = share(std::move(all));
  }

  // A success is acknowledged, unless a fault hit its worker first.
  void judge_success(const std::string& tag, const Runs& runs) {
    for (const Run& run : runs) {
      if (run.mark != Mark::kSuccess) continue;
      if (hit(run, run.start, *run.end + evidence_.recovery, Deaths::kCount) == nullptr)
        doubt(verdict_.contradicted, "dead, though it had succeeded", tag);
    }
  }

  // An attempt is recorded before it starts if the former holder of its lease was lost (S7): then
  // faults may have used up some of them.
  [[nodiscard]] bool used_up(const Runs& runs) const {
    if (runs.size() >= evidence_.max_attempts) return true;
    std::size_t eaten = 0;
    for (const Run& run : runs) {
      if (hit(run, run.start, run.end.value_or(run.start), Deaths::kCount) != nullptr) ++eaten;
    }
    return runs.size() + eaten >= evidence_.max_attempts;
  }

  static std::string words(const Run& before, const Run& after) {
    return " task " + after.task + " in pid " + std::to_string(before.pid) + " at " +
           std::to_string(before.start) + ", in pid " + std::to_string(after.pid) + " at " +
           std::to_string(after.start);
  }

  const Evidence& evidence_;
  Verdict verdict_;
  std::set<std::string> exclusive_;
  std::unordered_map<pid_t, std::vector<const Fault*>> faults_;
  std::unordered_map<std::string, Runs> runs_;  // by tag
  std::unordered_map<pid_t, std::vector<Nanoseconds>> starts_;
  std::unordered_set<std::string> submitted_;
  std::set<std::string> waiting_;
  std::set<std::string> dead_;
};

}  // namespace

Verdict check(const Evidence& evidence) {
  return Check(evidence).judge();
}

}  // namespace allot::fault

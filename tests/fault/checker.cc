// SPDX-License-Identifier: Apache-2.0
#include "fault/checker.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace allot::fault {
namespace {

constexpr std::size_t kMostComplaints = 20;

struct Run {
  std::string task;
  pid_t pid = 0;
  Nanoseconds start = 0;
  std::optional<Nanoseconds> end{};
  Mark mark = Mark::kStart;  // how it ended
  bool exclusive = false;
};

class Check {
 public:
  explicit Check(const Evidence& evidence) : evidence_(evidence) {}

  Verdict judge() {
    sort_faults();
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
    return std::move(verdict_);
  }

 private:
  void complain(std::uint64_t& counter, const std::string& what, const std::string& about) {
    ++counter;
    if (verdict_.complaints.size() < kMostComplaints)
      verdict_.complaints.push_back(what + ": " + about);
  }

  void sort_faults() {
    for (const Fault& fault : evidence_.faults) faults_[fault.pid].push_back(&fault);
  }

  void collect_runs() {
    for (const Trace& trace : evidence_.traces) {
      auto& runs = runs_[trace.tag];
      if (trace.mark == Mark::kStart) {
        ++verdict_.runs;
        runs.push_back({trace.task, trace.pid, trace.at});
        runs.back().exclusive = std::find(evidence_.exclusive.begin(), evidence_.exclusive.end(),
                                          trace.queue) != evidence_.exclusive.end();
        continue;
      }
      // A worker runs one task at a time, so that the last start of its pid is the one that ends.
      const auto started = std::find_if(runs.rbegin(), runs.rend(), [&trace](const Run& run) {
        return run.pid == trace.pid && !run.end;
      });
      if (started == runs.rend()) {
        complain(verdict_.unexpected, "an end without a start", trace.tag);
        continue;
      }
      started->end = trace.at;
      started->mark = trace.mark;
    }
  }

  [[nodiscard]] bool exists(const std::string& tag) const {
    return runs_.count(tag) != 0 || waiting_.count(tag) != 0 || dead_.count(tag) != 0;
  }

  [[nodiscard]] bool finished(const std::string& tag) const {
    const auto found = runs_.find(tag);
    if (found == runs_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [](const Run& run) { return run.mark == Mark::kSuccess; });
  }

  void judge_submissions() {
    for (const Told& told : evidence_.told) {
      std::uint64_t there = 0;
      for (std::uint64_t i = 0; i < told.count; ++i) {
        const std::string tag = tag_of(told.submitter, told.first + i);
        submitted_.insert(tag);
        if (exists(tag)) ++there;
        judge_submission(tag, told.answer);
      }
      if (told.answer != Answer::kUnknown) continue;
      verdict_.unknown_exist += there;
      if (there != 0 && there != told.count)
        complain(verdict_.torn, "a batch of which a part exists", line_of(told));
    }
  }

  void judge_submission(const std::string& tag, Answer answer) {
    switch (answer) {
      case Answer::kAcknowledged:
        ++verdict_.acknowledged;
        if (!finished(tag) && waiting_.count(tag) == 0 && dead_.count(tag) == 0)
          complain(verdict_.lost, "lost", tag);
        return;
      case Answer::kRefused:
        ++verdict_.refused;
        if (exists(tag)) complain(verdict_.unexpected, "refused, but there", tag);
        return;
      case Answer::kUnknown:
        ++verdict_.unknown;
        // Once it was seen it is as good as acknowledged: it may not vanish half way.
        if (exists(tag) && !finished(tag) && waiting_.count(tag) == 0 && dead_.count(tag) == 0)
          complain(verdict_.lost, "started, then lost", tag);
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

  void judge_runs(const std::string& tag, const std::vector<Run>& runs) {
    const bool one_task = std::all_of(runs.begin(), runs.end(), [&runs](const Run& run) {
      return run.task == runs.front().task;
    });
    if (!one_task) complain(verdict_.doubled, "two tasks of one submission", tag);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      judge_repetition(tag, runs[i - 1], runs[i]);
      for (std::size_t j = 0; j < i; ++j) judge_overlap(tag, runs[j], runs[i]);
    }
  }

  void judge_repetition(const std::string& tag, const Run& before, const Run& after) {
    if (before.mark == Mark::kRetry && *before.end <= after.start) return;
    ++verdict_.duplicates;
    if (!hit(before.pid, before.start, after.start, true))
      complain(verdict_.unexplained_duplicates, "unexplained duplicate", words(tag, before, after));
  }

  void judge_overlap(const std::string& tag, const Run& before, const Run& after) {
    if (over(before) <= after.start) return;
    ++verdict_.overlaps;
    if (after.exclusive)
      complain(verdict_.exclusive_overlaps, "exclusive overlap", words(tag, before, after));
    if (!hit(before.pid, before.start, after.start, false))
      complain(verdict_.unexplained_overlaps, "unexplained overlap", words(tag, before, after));
  }

  // When a run was over: at its end, or when its worker was killed.
  [[nodiscard]] Nanoseconds over(const Run& run) const {
    if (run.end) return *run.end;
    auto over = std::numeric_limits<Nanoseconds>::max();
    const auto found = faults_.find(run.pid);
    if (found == faults_.end()) return over;
    for (const Fault* fault : found->second) {
      if (fault->fatal && fault->end >= run.start) over = std::min(over, fault->end);
    }
    return over;
  }

  // Was the worker hit from `from` to `to`? A kill shows at once, anything else also afterwards.
  [[nodiscard]] bool hit(pid_t pid, Nanoseconds from, Nanoseconds to, bool fatal_counts) const {
    for (const pid_t whom : {pid, pid_t{0}}) {
      const auto found = faults_.find(whom);
      if (found == faults_.end()) continue;
      for (const Fault* fault : found->second) {
        if (fault->fatal && !fatal_counts) continue;
        const Nanoseconds last = fault->end + (fault->fatal ? 0 : evidence_.recovery);
        if (fault->begin <= to && last >= from) return true;
      }
    }
    return false;
  }

  void judge_dead() {
    for (const std::string& tag : dead_) {
      const auto found = runs_.find(tag);
      const bool wanted = found != runs_.end() &&
                          std::any_of(found->second.begin(), found->second.end(),
                                      [](const Run& run) { return run.mark == Mark::kFail; });
      if (wanted) {
        ++verdict_.dead_as_wanted;
      } else {
        complain(verdict_.buried, "dead without a fail", tag);
      }
    }
    if (dead_.size() != evidence_.dead.size())
      complain(verdict_.doubled, "dead twice", std::to_string(evidence_.dead.size()));
  }

  static std::string words(const std::string& tag, const Run& before, const Run& after) {
    return tag + " task " + after.task + " in pid " + std::to_string(before.pid) + " at " +
           std::to_string(before.start) + ", in pid " + std::to_string(after.pid) + " at " +
           std::to_string(after.start);
  }

  const Evidence& evidence_;
  Verdict verdict_;
  std::unordered_map<pid_t, std::vector<const Fault*>> faults_;
  std::map<std::string, std::vector<Run>> runs_;  // by tag
  std::set<std::string> submitted_;
  std::set<std::string> waiting_;
  std::set<std::string> dead_;
};

}  // namespace

Verdict check(const Evidence& evidence) {
  return Check(evidence).judge();
}

}  // namespace allot::fault

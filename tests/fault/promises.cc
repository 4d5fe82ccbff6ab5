// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "fault/attempts.h"
#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

// A worker of an idle pool takes a task within about a second, and the machine may be busy.
constexpr Nanoseconds kPrompt = 5 * kSecond;
constexpr std::size_t kMostBroken = 20;

class Promises {
 public:
  explicit Promises(const Ledger& ledger)
      : ledger_(ledger),
        evidence_(ledger.evidence),
        attempts_(attempts_in(ledger.evidence.traces)) {
    for (const Trace& trace : evidence_.traces) {
      if (trace.mark == Mark::kKept) kept_[trace.tag] = trace.at;
      if (trace.mark == Mark::kHooked) hooks_.push_back(&trace);
    }
    for (const TaskRow& row : ledger_.dead) dead_[row.tag] = row.cause;
    waiting_.insert(evidence_.waiting.begin(), evidence_.waiting.end());
    for (const Operation& operation : ledger_.operations) {
      touched_.insert(operation.tag);
      for (const TaskRow& task : operation.tasks) touched_.insert(task.tag);
    }
  }

  std::vector<std::string> broken() {
    for (const auto& [tag, attempts] : attempts_) judge_attempts(tag, attempts);
    judge_order();
    judge_unique();
    judge_effects();
    judge_children();
    judge_hooks();
    judge_limits();
    judge_probes();
    return std::move(broken_);
  }

 private:
  void complain(const std::string& what, const std::string& about) {
    broken_.push_back(what + ": " + about);
  }
  [[nodiscard]] bool revived(const std::string& tag) const {
    return evidence_.revived.count(tag) != 0;
  }
  [[nodiscard]] const Reply* reply_to(const std::string& tag) const {
    const unsigned long submitter = std::stoul(tag);
    const std::uint64_t number = std::stoull(tag.substr(tag.find('.') + 1));
    for (const Reply& each : evidence_.replies) {
      if (each.submitter == submitter && number >= each.first && number < each.first + each.count)
        return &each;
    }
    return nullptr;
  }
  // Time of its final verdict; 0: none.
  [[nodiscard]] static Nanoseconds over(const std::vector<Attempt>& attempts) {
    for (const Attempt& each : attempts) {
      if (each.end == nullptr) continue;
      if (each.end->mark == Mark::kSuccess || each.end->mark == Mark::kFail) return each.end->at;
    }
    return 0;
  }
  [[nodiscard]] bool finished(const std::string& tag) const {
    const auto found = attempts_.find(tag);
    return found != attempts_.end() && waiting_.count(tag) == 0 && dead_.count(tag) == 0 &&
           std::any_of(found->second.begin(), found->second.end(), [](const Attempt& each) {
             return each.end != nullptr && each.end->mark == Mark::kSuccess;
           });
  }

  void judge_attempts(const std::string& tag, const std::vector<Attempt>& attempts) {
    const auto item = item_of(ledger_.draw, tag);
    for (const Attempt& each : attempts) {
      if (each.start->attempt > evidence_.max_attempts)
        complain("an attempt behind the last one", tag);
      const auto kept = kept_.find(tag);
      if (kept != kept_.end() && kept->second < each.start->at && each.start->more != "kept" &&
          each.start->mark != Mark::kBeside)
        complain("it does not begin from its checkpoint", tag);
    }
    if (!item || item->expires_in.count() == 0 || revived(tag)) return;
    const Reply* answer = reply_to(tag);
    const Nanoseconds latest =
        std::chrono::nanoseconds(item->delay + item->expires_in).count() + 500 * kMillisecond;
    if (answer != nullptr && answer->end != 0 && attempts.front().start->attempt == 1 &&
        attempts.front().start->at > answer->end + latest)
      complain("it started although it had expired", tag);
  }

  // Order of one submitter's tasks of a key.
  void judge_order() {
    std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> lines;
    for (const auto& [tag, attempts] : attempts_) {
      const auto item = item_of(ledger_.draw, tag);
      if (!item || item->queue != "ordered") continue;
      const auto dot = tag.find('.');
      lines[tag.substr(0, dot) + item->partition_key].emplace_back(std::stoull(tag.substr(dot + 1)),
                                                                   tag);
    }
    for (auto& [key, tags] : lines) {
      std::sort(tags.begin(), tags.end());
      for (std::size_t i = 1; i < tags.size(); ++i) judge_pair(tags[i - 1].second, tags[i].second);
    }
  }
  void judge_pair(const std::string& earlier, const std::string& later) {
    if (touched_.count(earlier) != 0 || revived(earlier) || revived(later)) return;
    const auto& first = attempts_.at(earlier);
    const Nanoseconds begun = attempts_.at(later).front().start->at;
    const Nanoseconds end = over(first);
    if (end != 0 && end < begun) return;
    const bool again = std::any_of(first.begin(), first.end(), [&](const Attempt& each) {
      return each.start->at > begun || (each.end != nullptr && each.end->at > begun);
    });
    if (again)
      complain("started before an earlier task of its key was over", later + ", " + earlier);
  }

  // Two tasks of a key, of which one was made while the other waited or ran.
  void judge_unique() {
    std::map<std::string, std::map<std::string, std::string>> by_key;  // id, first tag
    for (const auto& [tag, id] : ledger_.ids) {
      const auto item = item_of(ledger_.draw, tag);
      if (item && !item->unique_key.empty())
        by_key[item->queue + "/" + item->unique_key].emplace(id, tag);
    }
    for (const auto& [key, tasks] : by_key) {
      for (const auto& [id, tag] : tasks) {
        for (const auto& [other_id, other] : tasks) {
          if (id != other_id && lives_through(id, other))
            complain("two tasks of a key", key + " " + tag + ", " + other);
        }
      }
    }
  }
  // True if the task waited or ran during the whole submission of the other.
  [[nodiscard]] bool lives_through(const std::string& id, const std::string& other) const {
    const Reply* made = reply_to(other);
    if (made == nullptr) return false;
    for (const auto& [tag, own] : ledger_.ids) {
      const auto attempts = attempts_.find(tag);
      if (own != id || attempts == attempts_.end() || touched_.count(tag) != 0) continue;
      if (revived(tag)) continue;  // it was dead in between, which frees the key
      const Reply* answer = reply_to(tag);
      if (answer == nullptr || answer->end >= made->begin) continue;
      const auto& all = attempts->second;
      const auto last = std::find_if(all.begin(), all.end(), [](const Attempt& each) {
        return each.end != nullptr && each.end->mark == Mark::kSuccess;
      });
      if (last != all.end() && last->start->at > made->end) return true;
    }
    return false;
  }

  void judge_effects() {
    for (const auto& [tag, rows] : ledger_.effects) {
      if (rows > 1) complain("its effect is there more than once", tag);
      if (waiting_.count(tag) != 0) complain("its effect is there, and it waits", tag);
    }
    for (const auto& [tag, attempts] : attempts_) {
      const auto item = item_of(ledger_.draw, tag);
      if (!item || (item->verb != "effect" && item->verb != "both")) continue;
      if (finished(tag) && touched_.count(tag) == 0 && ledger_.effects.count(tag) == 0)
        complain("its effect is missing", tag);
    }
  }

  void judge_children() {
    for (const auto& [tag, attempts] : attempts_) {
      const auto item = item_of(ledger_.draw, tag);
      if (!item || (item->verb != "replace" && item->verb != "both")) continue;
      for (const unsigned more : kChildren) {
        const std::string child = child_tag(tag, more);
        const auto found = attempts_.find(child);
        const bool there = found != attempts_.end() || waiting_.count(child) != 0 ||
                           dead_.count(child) != 0 || touched_.count(child) != 0;
        if (finished(tag) && touched_.count(tag) == 0 && !there)
          complain("what it put in its place is missing", tag);
        if (waiting_.count(tag) != 0 && there) complain("it waits, and was replaced", tag);
      }
    }
  }

  // Each death of a task of a queue with a hook has one hook task.
  void judge_hooks() {
    std::map<std::string, std::set<std::string>> by_task;  // ids of the hooks' tasks
    for (const Trace* hook : hooks_) {
      if (hook->more.rfind("dead ", 0) == 0) by_task[hook->more.substr(5)].insert(hook->task);
    }
    for (const auto& row : ledger_.dead) {
      const QueuePlan* plan = plan_of(row.queue);
      const std::size_t hooks = by_task.count(row.id) != 0 ? by_task.at(row.id).size() : 0;
      if (revived(row.tag) || plan == nullptr) continue;
      const std::size_t wanted = plan->on_dead && row.cause != "cancelled" ? 1 : 0;
      if (hooks != wanted)
        complain(std::to_string(hooks) + " hooks for a death by " + row.cause, row.tag);
    }
    for (const auto& [id, hooks] : by_task) {
      const bool again = ledger_.draw.does(Act::kRetryDead);
      if (hooks.size() > 1 && !again) complain("several hooks for a death", id);
    }
  }

  // A limited queue runs at most its number of tasks per key. The end of a killed run is unknown,
  // so it counts only at its start.
  void judge_limits() {
    std::map<std::string, std::vector<Attempt>> by_key;  // with its queue
    std::map<std::string, unsigned> limits;
    for (const auto& [tag, attempts] : attempts_) {
      const auto item = item_of(ledger_.draw, tag);
      const QueuePlan* plan = item ? plan_of(item->queue) : nullptr;
      if (plan == nullptr || plan->placement != "limited") continue;
      auto& of_key = by_key[item->queue + "/" + item->partition_key];
      of_key.insert(of_key.end(), attempts.begin(), attempts.end());
      limits[item->queue + "/" + item->partition_key] = plan->max_running;
    }
    for (const auto& [key, attempts] : by_key) judge_limit(key, attempts, limits.at(key));
  }
  void judge_limit(const std::string& key, const std::vector<Attempt>& attempts, unsigned limit) {
    for (const Attempt& each : attempts) {
      const Nanoseconds at = each.start->at;
      std::string running;
      unsigned count = 0;
      for (const Attempt& other : attempts) {
        const Trace& start = *other.start;
        const bool runs =
            start.at == at || (start.at < at && other.end != nullptr && other.end->at > at);
        // A stopped worker may continue after the end of its lease, if no process could kill it.
        if (!runs || stopped(evidence_, start, start.at, at)) continue;
        ++count;
        running += " " + start.tag;
      }
      if (count > limit) {
        return complain(
            std::to_string(count) + " tasks of a key ran at once, not " + std::to_string(limit),
            key + running);
      }
    }
  }

  // A task submitted while nothing else is left starts soon.
  void judge_probes() {
    for (const Reply& reply : evidence_.replies) {
      if (reply.submitter != kProbes || reply.answer != Answer::kAcknowledged) continue;
      for (std::uint64_t i = 0; i < reply.count; ++i) {
        const std::string tag = tag_of(kProbes, reply.first + i);
        const auto found = attempts_.find(tag);
        if (found == attempts_.end()) {
          complain("nothing else was left, and it did not start", tag);
        } else if (const auto late = found->second.front().start->at - reply.end; late > kPrompt) {
          complain("nothing else was left, and it started late",
                   tag + " " + std::to_string(late / kMillisecond) + " ms");
        }
      }
    }
  }

  [[nodiscard]] const QueuePlan* plan_of(const std::string& name) const {
    for (const QueuePlan& plan : ledger_.draw.queues) {
      if (plan.name == name) return &plan;
    }
    return nullptr;
  }

  const Ledger& ledger_;
  const Evidence& evidence_;
  Attempts attempts_;
  std::map<std::string, Nanoseconds> kept_;
  std::vector<const Trace*> hooks_;
  std::map<std::string, std::string> dead_;  // cause by tag
  std::set<std::string> waiting_;
  std::set<std::string> touched_;  // by operators
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_promises(const Ledger& ledger) {
  std::vector<std::string> broken = Promises(ledger).broken();
  for (auto judge : {broken_by_operators, broken_history, broken_ticks, broken_routes, broken_rate,
                     deaths_of_nothing}) {
    for (std::string& line : judge(ledger)) broken.push_back(std::move(line));
  }
  if (broken.size() > kMostBroken) broken.resize(kMostBroken);
  return broken;
}

}  // namespace allot::fault

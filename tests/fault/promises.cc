// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

struct Attempt {
  const Trace* start = nullptr;
  const Trace* end = nullptr;  // none: it was killed
};

class Promises {
 public:
  explicit Promises(const Ledger& ledger) : ledger_(ledger), evidence_(ledger.evidence) {
    for (const Trace& trace : evidence_.traces) collect(trace);
    for (const TaskRow& row : ledger_.dead) dead_[row.tag] = row.cause;
    waiting_.insert(evidence_.waiting.begin(), evidence_.waiting.end());
    for (const Deed& deed : ledger_.deeds) {
      touched_.insert(deed.tag);
      for (const TaskRow& task : deed.tasks) touched_.insert(task.tag);
    }
  }

  std::vector<std::string> broken() {
    for (const auto& [tag, attempts] : attempts_) judge_attempts(tag, attempts);
    judge_order();
    judge_unique();
    judge_effects();
    judge_children();
    judge_hooks();
    judge_cancels();
    judge_deaths();
    return std::move(broken_);
  }

 private:
  void collect(const Trace& trace) {
    auto& attempts = attempts_[trace.tag];
    if (trace.mark == Mark::kStart || trace.mark == Mark::kBeside) {
      attempts.push_back({&trace, nullptr});
    } else if (trace.mark == Mark::kKept) {
      kept_[trace.tag] = trace.at;
    } else if (trace.mark == Mark::kHooked) {
      hooks_.push_back(&trace);
    } else {
      const auto of = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& one) {
        return one.start->pid == trace.pid && one.end == nullptr;
      });
      if (of != attempts.rend()) of->end = &trace;
    }
  }

  void complain(const std::string& what, const std::string& about) {
    if (broken_.size() < 20) broken_.push_back(what + ": " + about);
  }
  [[nodiscard]] bool revived(const std::string& tag) const {
    return evidence_.revived.count(tag) != 0;
  }
  [[nodiscard]] const Told* told(const std::string& tag) const {
    const unsigned long submitter = std::stoul(tag);
    const std::uint64_t number = std::stoull(tag.substr(tag.find('.') + 1));
    for (const Told& each : evidence_.told) {
      if (each.submitter == submitter && number >= each.first && number < each.first + each.count)
        return &each;
    }
    return nullptr;
  }
  // When it had a verdict that ends it; 0: none.
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
    const Told* answer = told(tag);
    const Nanoseconds latest =
        std::chrono::nanoseconds(item->delay + item->expires_in).count() + 500 * kMillisecond;
    if (answer != nullptr && answer->end != 0 && attempts.front().start->attempt == 1 &&
        attempts.front().start->at > answer->end + latest)
      complain("it started although it had expired", tag);
  }

  // One submitter's tasks of a key, in the order in which it submitted them.
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
    std::map<std::string, std::map<std::string, std::string>> by_key;  // its id, its first tag
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
  // Whether the task waited or ran all the time while the other was submitted.
  [[nodiscard]] bool lives_through(const std::string& id, const std::string& other) const {
    const Told* made = told(other);
    if (made == nullptr) return false;
    for (const auto& [tag, own] : ledger_.ids) {
      const auto attempts = attempts_.find(tag);
      if (own != id || attempts == attempts_.end() || touched_.count(tag) != 0) continue;
      const Told* answer = told(tag);
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

  // Each death of a task of a queue with a hook, once.
  void judge_hooks() {
    std::map<std::string, std::set<std::string>> by_task;  // ids of the hooks' tasks
    for (const Trace* hook : hooks_) {
      if (hook->more.rfind("dead ", 0) == 0) by_task[hook->more.substr(5)].insert(hook->task);
    }
    for (const auto& row : ledger_.dead) {
      const auto plan =
          std::find_if(ledger_.draw.queues.begin(), ledger_.draw.queues.end(),
                       [&](const QueuePlan& queue) { return queue.name == row.queue; });
      const std::size_t hooks = by_task.count(row.id) != 0 ? by_task.at(row.id).size() : 0;
      if (revived(row.tag) || plan == ledger_.draw.queues.end()) continue;
      const std::size_t wanted = plan->on_dead && row.cause != "cancelled" ? 1 : 0;
      if (hooks != wanted)
        complain(std::to_string(hooks) + " hooks for a death by " + row.cause, row.tag);
    }
    for (const auto& [id, hooks] : by_task) {
      const bool again = ledger_.draw.does(Act::kRetryDead);
      if (hooks.size() > 1 && !again) complain("several hooks for a death", id);
    }
  }

  // A task that nobody had fetched when it was taken out does not start.
  void judge_cancels() {
    for (const Deed& deed : ledger_.deeds) {
      const bool cancel = deed.act == Act::kCancel || deed.act == Act::kCancelDone;
      if (!cancel || deed.landed != Landed::kYes || deed.may_run || revived(deed.tag)) continue;
      const auto found = attempts_.find(deed.tag);
      if (found == attempts_.end()) continue;
      for (const Attempt& each : found->second) {
        if (each.start->at > deed.end) complain("it started behind its cancel", deed.tag);
      }
    }
  }

  // No worker dies by itself.
  void judge_deaths() {
    for (const std::string& line : ledger_.deaths) {
      // Its supervisor stopped or retired it before it had a handler for that. Nobody else sends
      // these, and a worker that has just been started holds nothing.
      if (line.ends_with(" signal=15") || line.ends_with(" signal=1")) continue;
      // It could not reach the database, or not lock in it what it tries at its start.
      const bool away = std::any_of(evidence_.faults.begin(), evidence_.faults.end(),
                                    [](const Fault& fault) { return !fault.fatal; });
      if (away && line.find(" exit=69") != std::string::npos) continue;
      const auto at = line.find(" pid=");
      const auto pid = static_cast<pid_t>(std::stol(line.substr(at + 5)));
      const bool known =
          std::any_of(evidence_.faults.begin(), evidence_.faults.end(), [pid](const Fault& fault) {
            return fault.fatal && (fault.pid == pid || fault.reach == Reach::kHost);
          });
      if (!known) complain("a worker died of nothing", line);
    }
  }

  const Ledger& ledger_;
  const Evidence& evidence_;
  std::map<std::string, std::vector<Attempt>> attempts_;
  std::map<std::string, Nanoseconds> kept_;
  std::vector<const Trace*> hooks_;
  std::map<std::string, std::string> dead_;  // the cause by the tag
  std::set<std::string> waiting_;
  std::set<std::string> touched_;  // by operators
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_promises(const Ledger& ledger) {
  return Promises(ledger).broken();
}

}  // namespace allot::fault

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "fault/attempts.h"
#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

// Compares the rows of task_history with the handlers' records. Draws keep them for three hours: a
// task that ends while the clock is set back by an hour is immediately an hour old.
class History {
 public:
  explicit History(const Ledger& ledger)
      : ledger_(ledger), evidence_(ledger.evidence), attempts_(attempts_in(evidence_.traces)) {
    for (const QueuePlan& queue : ledger.draw.queues) {
      if (queue.history) keeps_.insert(queue.name);
    }
    for (const HistoryRow& row : ledger.history) rows_[row.id].push_back(&row);
    left_.insert(evidence_.waiting.begin(), evidence_.waiting.end());
    left_.insert(evidence_.dead.begin(), evidence_.dead.end());
    for (const Operation& operation : ledger.operations) {
      if (!operation.tag.empty()) touched_.insert(operation.tag);
      for (const TaskRow& task : operation.tasks) touched_.insert(task.tag);
    }
  }

  std::vector<std::string> broken() {
    for (const HistoryRow& row : ledger_.history) {
      if (keeps_.count(row.queue) == 0) complain("a history that was not requested", row.queue);
    }
    for (const auto& [tag, attempts] : attempts_) judge(tag, attempts);
    for (const Operation& operation : ledger_.operations) judge_cancel(operation);
    judge_strangers();
    return std::move(broken_);
  }

 private:
  void complain(const std::string& what, const std::string& about) {
    broken_.push_back(what + ": " + about);
  }
  [[nodiscard]] bool touched(const std::string& tag) const {
    return touched_.count(tag) != 0 || evidence_.revived.count(tag) != 0;
  }

  void judge(const std::string& tag, const std::vector<Attempt>& attempts) {
    std::set<std::string> ids;
    std::set<unsigned> numbers;  // of successful attempts
    bool kept = false;
    for (const Attempt& each : attempts) {
      ids.insert(each.start->task);
      known_.insert(each.start->task);
      if (each.end == nullptr || each.end->mark != Mark::kSuccess) continue;
      numbers.insert(each.start->attempt);
      kept = kept || keeps_.count(each.start->queue) != 0;
    }
    if (touched(tag)) return;
    std::vector<const HistoryRow*> rows;
    for (const std::string& id : ids) {
      if (rows_.count(id) != 0) rows.insert(rows.end(), rows_.at(id).begin(), rows_.at(id).end());
    }
    if (left_.count(tag) != 0 || numbers.empty()) {
      if (!rows.empty()) complain("in the history, and it is not done", tag);
    } else if (rows.size() > 1) {
      complain(std::to_string(rows.size()) + " rows in the history", tag);
    } else if (rows.empty()) {
      // A moved task may have succeeded in both queues, and has a row if the last success has one.
      if (kept && evidence_.renamed.count(tag) == 0) complain("missing in the history", tag);
    } else {
      judge_row(tag, *rows.front(), numbers);
    }
  }

  void judge_row(const std::string& tag, const HistoryRow& row, const std::set<unsigned>& numbers) {
    if (numbers.count(row.attempt) == 0)
      complain("in the history with attempt " + std::to_string(row.attempt), tag);
    const auto item = item_of(ledger_.draw, tag);
    if (item && item->type != row.type) complain("in the history as a " + row.type, tag);
  }

  // A cancelled task gets there only if it ended as done.
  void judge_cancel(const Operation& operation) {
    if (operation.act != Act::kCancel && operation.act != Act::kCancelDone) return;
    known_.insert(operation.task);
    if (operation.landed != Landed::kYes || keeps_.count(operation.queue) == 0) return;
    if (evidence_.revived.count(operation.tag) != 0 || evidence_.renamed.count(operation.tag) != 0)
      return;
    const bool there = rows_.count(operation.task) != 0;
    if (operation.act == Act::kCancelDone && !there)
      complain("it was to end as done, and is missing in the history", operation.tag);
    if (operation.act == Act::kCancel && !operation.asked && there)
      complain("it was taken out, and is in the history", operation.tag);
  }

  void judge_strangers() {
    for (const auto& [id, rows] : rows_) {
      if (known_.count(id) == 0) complain("in the history, but unknown", id);
    }
  }

  const Ledger& ledger_;
  const Evidence& evidence_;
  Attempts attempts_;
  std::set<std::string> keeps_;                                 // queues
  std::map<std::string, std::vector<const HistoryRow*>> rows_;  // by id
  std::set<std::string> left_;     // tags of tasks that wait or are dead
  std::set<std::string> touched_;  // by operators
  std::set<std::string> known_;    // ids
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_history(const Ledger& ledger) {
  return History(ledger).broken();
}

}  // namespace allot::fault

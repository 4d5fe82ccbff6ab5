// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault/cluster.h"
#include "fault/draw.h"
#include "fault/storm.h"
#include "support/process.h"

namespace allot::fault {

enum class Landed { kYes, kNo, kMaybe };

// An action of an operator, from the beginning of the command to its answer.
struct Operation {
  Act act = Act::kReload;
  std::string queue{};
  std::string task{};  // its id, and its tag
  std::string tag{};
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Landed landed = Landed::kMaybe;
  bool asked = false;            // kCancel: it ran, and its end was requested
  bool may_run = true;           // kCancel: a worker had fetched it
  std::vector<TaskRow> tasks{};  // kRetryDead, kDiscard: tasks that were dead before
  std::uint64_t chosen = 0;      // number of tasks chosen
  bool lifts = false;            // kPause, kRoute: end of one
};
std::string line_of(const Operation& operation);

// Executes a draw's actions like an operator: signals, files, and `allot`.
class Operator {
 public:
  Operator(const Draw& draw, Cluster& cluster, Storm& storm);

  // Schedules all actions in the storm.
  void begin();
  // Cancels tasks that are known to hold their partition. Call it now and then while the rest is
  // drained.
  void let_go();
  // Ends all pending actions.
  void finish();

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  // Number of executed actions by kind.
  [[nodiscard]] std::map<std::string, std::uint64_t> done() const;
  // Possible numbers of workers of a pool: from the file that was loaded last and, if loading may
  // have failed, from the one before.
  [[nodiscard]] std::vector<unsigned> sizes_of(unsigned host, const PoolPlan& pool) const;

 private:
  void act(const Action& action);
  void reload(const Action& action);
  void reload_bad(const Action& action);
  void edit(const Action& action);
  void resize(const Action& action);
  void move(const Action& action);
  void pause(const Action& action);
  void cancel(const Action& action);
  void cancel_one(const TaskRow& task, bool as_done);
  void dead(const Action& action);
  void drain(const Action& action);
  void route(const Action& action);
  void change_route(bool end);

  void write_good(unsigned host);
  void write_bad(unsigned host);
  [[nodiscard]] Host* signalled(unsigned host, int number);
  [[nodiscard]] support::Finished allot(std::vector<std::string> arguments) const;
  [[nodiscard]] const std::string& queue_of(const Action& action) const;
  [[nodiscard]] std::vector<TaskRow> some_tasks(std::uint64_t pick) const;
  [[nodiscard]] std::vector<TaskRow> long_running() const;
  Operation& note(Act act, Nanoseconds begin, const support::Finished& done);

  const Draw& draw_;
  Cluster& cluster_;
  Storm& storm_;
  // Version of the file of each host.
  struct Version {
    unsigned number = 0;
    Nanoseconds loaded = 0;  // when the host got the request to load it
    bool sure = true;        // false: it may have read the invalid file that came soon after
  };
  std::vector<Version> versions_;
  std::vector<Operation> operations_;
  std::set<std::string> let_go_;  // ids
  std::vector<std::unique_ptr<support::Process>> drains_;
};

}  // namespace allot::fault

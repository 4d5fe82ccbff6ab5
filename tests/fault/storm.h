// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fault/cluster.h"
#include "fault/intruder.h"
#include "fault/meter.h"
#include "fault/schedule.h"

namespace allot::fault {

// Applies the events of a schedule to a cluster, each at its time, and records what really
// happened.
class Storm {
 public:
  // `spare`: the first host's allotd and the worker of its pool "calm" are neither killed nor
  // stopped, so that their memory can be measured over a long run.
  Storm(Cluster& cluster, Meter& meter, bool spare);

  void run(const std::vector<Event>& events, std::chrono::milliseconds length);
  // Ends the active faults, so that everything can recover.
  void calm();
  // Executes due events, and restarts an allotd killed by a task. Call it often.
  void look_after();
  // Action of an operator on a host that is down, before each start.
  void before_each_start(std::function<void(Host&)> act) { before_start_ = std::move(act); }
  // Output of the first allotd that ended without having been killed.
  [[nodiscard]] const std::string& first_death() const { return first_death_; }
  // Schedules an additional action after this time. calm() waits for it.
  void after(std::chrono::milliseconds length, std::function<void()> act);

  // The faults that happened, for the checker. Call it after calm().
  [[nodiscard]] std::vector<Fault> take_faults();
  // By kind; one event may cause several faults.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& done() const { return done_; }
  [[nodiscard]] std::uint64_t kills() const { return kills_; }  // kill -9 of one process

 private:
  struct Later {
    Nanoseconds at;
    std::function<void()> act;
  };

  bool act_if_due();
  void start(Host& host);
  void wait_until(Nanoseconds end);
  void inflict(const Event& event);

  void kill_worker(const Event& event);
  void stop_worker(const Event& event);
  void kill_daemon(const Event& event);
  void kill_host(const Event& event);
  void stop_host(const Event& event);
  void kill_database(const Event& event);
  void read_only(const Event& event);
  void hold(const Event& event);
  void deadlock(const Event& event);
  void note_failed(const Event& event, std::optional<pid_t> touched, Nanoseconds begin);
  void kill_connection(const Event& event);
  void change_schema(const Event& event);
  void alter(const std::string& name, const std::string& change);
  void fill_disk(const Event& event);
  void step_clock(const Event& event);
  void fill_runtime(const Event& event);

  [[nodiscard]] Host* choose_host(std::uint64_t pick);
  struct Choice {
    Host* host = nullptr;
    std::shared_ptr<Target> target{};
  };
  [[nodiscard]] Choice choose_worker(std::uint64_t pick);
  // Call it before and after each action that makes a session wait for a lock.
  void sample();
  void note(Fault fault) { faults_.push_back(std::move(fault)); }

  Cluster& cluster_;
  Meter& meter_;
  bool spare_;
  pid_t spared_worker_ = 0;
  std::vector<Later> later_;
  std::function<void(Host&)> before_start_;
  std::string first_death_;
  bool server_down_ = false;
  unsigned locks_held_ = 0;  // by intruders
  unsigned stalled_ = 0;     // faults that may prevent a session from releasing its locks
  bool disk_full_ = false;
  bool clock_stepped_ = false;
  bool runtime_full_ = false;
  std::vector<Fault> faults_;
  std::map<std::string, std::uint64_t> done_;
  std::uint64_t kills_ = 0;
};

}  // namespace allot::fault

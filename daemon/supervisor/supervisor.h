// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "supervisor/instance.h"
#include "supervisor/preflight.h"
#include "supervisor/sd_notify.h"
#include "supervisor/side_child.h"
#include "supervisor/workers.h"

namespace allot::supervisor {

// The phase of the daemon between start and exit. The log prints it.
enum class Phase {
  kChecking,  // configuration and plugins, in a throwaway child
  kLocking,   // the instance lock; waits for workers of an earlier run
  kDatabase,  // embedded database, then schema and queues
  kRunning,
  kStopping,  // TERM sent; settlers work
  kStoppingDatabase,
  kDone
};
const char* name_of(Phase phase);

// The only loop of allotd: it waits, takes events, and acts on what is due. It is single-threaded
// and allocates nothing; it logs failures and tries again.
class Supervisor {
 public:
  explicit Supervisor(const Options& options) : options_(options) {}
  // Runs until stopped. Returns the exit code of the process.
  int run();

 private:
  bool set_up();
  bool resume();
  bool pass(Handover& io);
  void enter(Phase phase);
  void wait();
  void take_signals();
  void on_signal(int number);
  void reap();
  bool end_strays();
  void tick();

  void start_check(Preflight::Step step);
  void check_finished(int code);
  void first_check_finished(int code);
  void refused(const char* event, int code);
  void reload_check_finished(int code);
  void start_upgrade();
  void upgrade_check_finished(int code);
  void lock_and_open();
  bool open_log_file();
  void reopen_logs();
  void adopt();
  void stop(bool now);
  void kill_all(const char* why, Nanos settle_patience);
  void stopping();
  void give_up(int code);
  void tell_status();

  const Options& options_;
  Phase phase_ = Phase::kChecking;
  Nanos phase_began_ = 0, now_ = 0, wake_at_ = 0;
  int exit_code_ = 0;
  bool reload_asked_ = false, upgrade_asked_ = false, ready_told_ = false;
  // Set when all workers were killed, and when the last slot is vacant.
  Nanos settle_until_ = 0, stray_until_ = 0, next_watchdog_ = 0;
  Workers::Counts told_;

  UniqueFd signals_, notify_, death_read_, death_write_;
  ipc::PreflightAnswer answer_{}, pending_{};  // in force; of the check under way
  UniqueFd state_;                             // of an upgrade under way
  Preflight check_;
  Backoff backoff_{500 * kMilli, 10 * kSecond};
  Notifier notifier_;
  Instance instance_;
  SideChild database_{"database"}, gateway_{"gateway"};
  Workers workers_{instance_, options_, death_read_, notify_};
};

}  // namespace allot::supervisor

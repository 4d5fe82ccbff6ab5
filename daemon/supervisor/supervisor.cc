// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/exit_codes.h"
#include "base/mutant.h"
#include "base/posix.h"
#include "base/version.h"
#include "supervisor/log.h"

namespace allot::supervisor {
namespace {

constexpr Nanos kLockPatience = 40 * kSecond;      // for workers of an earlier run
constexpr Nanos kSettlePatience = 10 * kSecond;    // after a graceful stop ran out of patience
constexpr Nanos kSettleNow = 3 * kSecond;          // after the workers were killed on demand
constexpr Nanos kDatabasePatience = 40 * kSecond;  // to stop

}  // namespace

const char* name_of(Phase phase) {
  constexpr const char* kNames[] = {"checking", "locking",           "database", "running",
                                    "stopping", "stopping_database", "done"};
  return kNames[static_cast<int>(phase)];
}

int Supervisor::run() {
  if (!set_up()) {
    log_event(kError, "supervisor.no_start", "error=\"%s\"", std::strerror(errno));
    return kExitSoftware;
  }
  log_event(kInfo, "supervisor.start", "pid=%d version=%s phase=%s", getpid(), kVersion,
            name_of(phase_));
  now_ = mono_ns();
  if (phase_ == Phase::kChecking) start_check(Preflight::Step::kConfig);
  while (phase_ != Phase::kDone) {
    wait();
    now_ = mono_ns();
    wake_at_ = now_ + kTick;
    take_signals();
    reap();
    tick();
  }
  log_event(kInfo, "supervisor.exit", "code=%d", exit_code_);
  return exit_code_;
}

bool Supervisor::set_up() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2}) {
    sigaddset(&mask, number);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // a launcher may leave it ignored: children would vanish unseen
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // S22: this process ends grandchildren that called setsid
  if (sigprocmask(SIG_BLOCK, &mask, nullptr) != 0) return false;
  signals_.reset(high_fd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)));
  if (options_.resume != nullptr) return signals_.valid() && resume();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  death_read_.reset(high_fd(ends[0]));
  death_write_.reset(high_fd(ends[1]));
  notify_.reset(high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  notifier_.open();
  return death_read_.valid() && death_write_.valid() && signals_.valid() && notify_.valid();
}

// Signals that came during exec are pending, and children that died are zombies: the first turn of
// the loop finds both.
bool Supervisor::resume() {
  const UniqueFd state(ipc::kSlotFd);
  Handover io(state.get(), Handover::Way::kRead);
  const bool whole = pass(io);
  if (whole) set_log_format(answer_.log_format);
  if (std::strcmp(options_.resume, "check") == 0) {
    const bool good = whole && write_all(ipc::kAnswerFd, &answer_, sizeof answer_);
    _exit(good ? kExitOk : kExitConfig);  // the descriptors of the state are not open here
  }
  phase_ = Phase::kRunning;
  return whole && instance_.map_slots();
}

bool Supervisor::pass(Handover& io) {
  io(answer_, reload_asked_, upgrade_asked_, ready_told_, death_read_, death_write_, notify_);
  notifier_.pass(io);
  instance_.pass(io);
  database_.pass(io);
  gateway_.pass(io);
  workers_.pass(io);
  return io.whole();
}

void Supervisor::enter(Phase phase) {
  phase_ = phase;
  phase_began_ = now_;
  wake_at_ = now_;
  log_event(kInfo, "supervisor.phase", "phase=%s", name_of(phase));
  tell_status();
}

void Supervisor::wait() {
  pollfd watched[] = {{signals_.get(), POLLIN, 0},
                      {notify_.get(), POLLIN, 0},
                      {database_.ready_fd(), POLLIN, 0},
                      {gateway_.ready_fd(), POLLIN, 0}};
  const Nanos now = mono_ns();
  // The wait is rounded up, so that the loop does not spin for a timer that is due in half a
  // millisecond.
  const Nanos wait_ns = wake_at_ > now ? wake_at_ - now + kMilli - 1 : 0;
  if (poll(watched, 4, static_cast<int>(wait_ns / kMilli)) < 0 && errno != EINTR) {
    log_event(kError, "supervisor.poll", "error=\"%s\"", std::strerror(errno));
  }
  std::uint64_t count = 0;
  (void)!read(notify_.get(), &count, sizeof count);
}

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) on_signal(static_cast<int>(info.ssi_signo));
  }
}

void Supervisor::on_signal(int number) {
  log_event(kInfo, "supervisor.signal", "signal=%d phase=%s", number, name_of(phase_));
  switch (number) {
    case SIGTERM:
    case SIGINT:
    case SIGQUIT:  // at once, as for a second one of the others
      return stop(number == SIGQUIT || phase_ >= Phase::kStopping);
    case SIGHUP:
      reload_asked_ = true;  // before kRunning: executed later
      return;
    case SIGUSR1:
      return reopen_logs();
    default:
      upgrade_asked_ = true;  // as for HUP
  }
}

// Reaps until no zombie is left, because one SIGCHLD may announce several children.
void Supervisor::reap() {
  for (bool any = false;; any = true) {
    siginfo_t info{};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      if (any) end_strays();
      return;
    }
    const pid_t pid = info.si_pid;
    // Kills the group before reaping, while its number cannot be reused: processes that it started
    // die with it (S22). Not for the database, whose server has to stop in order.
    if (getpgid(pid) == pid && !database_.is(pid)) kill(-pid, SIGKILL);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return;
    if (check_.is(pid)) {
      check_finished(check_.finish(status));
    } else if (!workers_.reaped(pid, status, now_) && !gateway_.reaped(pid, status, now_)) {
      database_.reaped(pid, status, now_);
    }
  }
}

// S22: a process that a handler started in its own session becomes a child of this process when its
// worker dies, and so do its children when it dies. Kills none while the database is down, starting
// or stopping: then a stray may be its server on the way out. True: there was none.
bool Supervisor::end_strays() {
  if (!database_.ready() || phase_ == Phase::kStoppingDatabase) return true;
  char text[4096];
  const UniqueFd file(open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC));
  const ssize_t size = file.valid() ? read(file.get(), text, sizeof text - 1) : -1;
  if (size <= 0) return true;
  text[size] = '\0';
  bool none = true;
  char* end = nullptr;
  for (char* at = text;; at = end) {
    const auto pid = static_cast<pid_t>(strtol(at, &end, 10));
    if (end == at || *end != ' ') return none;  // a truncated number would name another process
    if (workers_.knows(pid) || database_.is(pid) || gateway_.is(pid) || check_.is(pid)) continue;
    if (workers_.knows(getpgid(pid))) continue;  // the end of its worker's group includes it
    log_event(kWarn, "stray.kill", "pid=%d", pid);
    kill(pid, SIGKILL);
    none = false;
  }
}

void Supervisor::tick() {
  tell_dropped();
  check_.enforce_deadline(now_);
  database_.tick(now_,
                 workers_.request_for({"allot-embedded", answer_.embedded_dir, "--supervised"}),
                 wake_at_);
  switch (phase_) {
    case Phase::kLocking:
      lock_and_open();
      break;
    case Phase::kDatabase:
      if (database_.hopeless() != 0) return give_up(database_.hopeless());
      if (database_.ready() && !check_.running() && backoff_.due(now_)) {
        start_check(Preflight::Step::kDatabaseAndReclaim);
      }
      if (!backoff_.due(now_)) wake_at_ = std::min(wake_at_, backoff_.not_before());
      break;
    case Phase::kRunning:
      // Cleared now, so that a HUP during the check requests another one.
      if (!check_.running() && std::exchange(reload_asked_, false)) {
        ++instance_.header().reloads.begun;
        start_check(Preflight::Step::kConfig);
      }
      if (!check_.running() && std::exchange(upgrade_asked_, false)) start_upgrade();
      workers_.tick(now_, wake_at_);
      gateway_.tick(now_, workers_.request_for({"allot-gateway", "--supervised"}), wake_at_);
      if (workers_.up() && !std::exchange(ready_told_, true)) {
        notifier_.send("READY=1");
        log_event(kInfo, "supervisor.ready", "instance=%s", answer_.instance);
      }
      break;
    case Phase::kStopping:
      stopping();
      break;
    case Phase::kStoppingDatabase:
      if (database_.gone()) return enter(Phase::kDone);
      if (now_ - phase_began_ > kDatabasePatience) database_.tell(SIGKILL);
      break;
    case Phase::kChecking:
    case Phase::kDone:
      break;
  }
  if (notifier_.watchdog_interval() != 0 && now_ >= next_watchdog_) {
    next_watchdog_ = now_ + notifier_.watchdog_interval();
    notifier_.send("WATCHDOG=1");
    tell_status();
  } else if (workers_.counts() != told_) {
    tell_status();
  }
}

void Supervisor::start_check(Preflight::Step step) {
  if (check_.start(step, options_, state_.get(), instance_.lock_fd())) return;
  log_event(kError, "check.no_start", "error=\"%s\"", std::strerror(errno));
  check_finished(kExitUnavailable);
}

void Supervisor::check_finished(int code) {
  if (phase_ < Phase::kRunning) return first_check_finished(code);
  if (phase_ != Phase::kRunning) return;
  const bool upgrade = check_.step() == Preflight::Step::kUpgrade;
  upgrade ? upgrade_check_finished(code) : reload_check_finished(code);
}

void Supervisor::first_check_finished(int code) {
  if (phase_ == Phase::kChecking) {
    if (code != kExitOk || !check_.read_answer(answer_)) {
      refused("check.failed", code);
      return give_up(code != kExitOk ? code : static_cast<int>(kExitConfig));
    }
    set_log_format(answer_.log_format);
    log_event(kInfo, "check.passed", "step=config pools=%u", answer_.pool_count);
    return enter(Phase::kLocking);
  }
  if (code == kExitOk) {
    adopt();
    return enter(Phase::kRunning);
  }
  if (code != kExitUnavailable) {
    refused("check.failed", code);
    return give_up(code);
  }
  backoff_.failed(now_);
  log_event(kWarn, "database.away", "retry_in_ms=%llu", in_ms(backoff_.delay()));
  tell_status();
}

// Reports the reason in the words of the check, if it gave one.
void Supervisor::refused(const char* event, int code) {
  const bool said = check_.read_answer(pending_) && pending_.problem[0] != '\0';
  if (said && phase_ == Phase::kChecking) set_log_format(pending_.log_format);
  log_event(kError, event, "step=%s code=%d reason=%s",
            check_.step() == Preflight::Step::kConfig ? "config" : "database", code,
            said ? Quoted::of(pending_.problem).c_str() : "\"see the lines above\"");
}

// After HUP every result but success keeps the running workers.
void Supervisor::reload_check_finished(int code) {
  const bool config_step = check_.step() == Preflight::Step::kConfig;
  if (code == kExitOk && config_step && check_.read_answer(pending_)) {
    notifier_.send("RELOADING=1\nMONOTONIC_USEC=%llu",
                   static_cast<unsigned long long>(now_ / kMicro));
    return start_check(Preflight::Step::kDatabase);
  }
  if (code != kExitOk || config_step) {
    refused("reload.refused", code);
    instance_.header().reloads.refused = instance_.header().reloads.begun;
  } else {
    if (std::strcmp(answer_.runtime_dir, pending_.runtime_dir) != 0 ||
        std::strcmp(answer_.embedded_dir, pending_.embedded_dir) != 0) {
      log_event(kWarn, "pool.needs_restart", "keys=\"runtime_dir, embedded\"");
      std::memcpy(pending_.runtime_dir, answer_.runtime_dir, sizeof answer_.runtime_dir);
      std::memcpy(pending_.embedded_dir, answer_.embedded_dir, sizeof answer_.embedded_dir);
    }
    answer_ = pending_;
    set_log_format(answer_.log_format);
    adopt();
    instance_.header().reloads.adopted = instance_.header().reloads.begun;
    log_event(kInfo, "pool.reload", "pools=%u", answer_.pool_count);
  }
  notifier_.send("READY=1");
}

void Supervisor::start_upgrade() {
  state_.reset(high_fd(memfd_create("allot-state", MFD_CLOEXEC)));
  Handover io(state_.get(), Handover::Way::kWrite);
  (void)pass(io);  // the check detects a failure
  start_check(Preflight::Step::kUpgrade);
}

// Starts the successor by its path, as this image was started. Returns if this image has to
// continue.
void Supervisor::upgrade_check_finished(int code) {
  Handover io(state_.get(), Handover::Way::kWrite);  // again: time has passed
  if (code == kExitOk && check_.read_answer(pending_) && pass(io)) {
    SpawnRequest request;
    request.add({options_.program, "--resume", "run"});
    request.add_options(options_);
    dup2(state_.get(), ipc::kSlotFd);
    execve(options_.program, const_cast<char**>(request.arguments), environ);
    close(ipc::kSlotFd);
    log_event(kError, "upgrade.exec", "error=\"%s\"", std::strerror(errno));
  }
  log_event(kError, "upgrade.aborted", "code=%d program=%s reason=\"refused, see above\"", code,
            Quoted(options_.program).c_str());
  state_.reset();
}

void Supervisor::lock_and_open() {
  const Instance::Lock lock = instance_.lock(answer_.runtime_dir);
  if (lock == Instance::Lock::kBusy && now_ - phase_began_ < kLockPatience) {
    if (now_ == phase_began_) {  // the first try
      log_event(kWarn, "instance.busy", "reason=\"waiting for workers of the previous run\"");
    }
    wake_at_ = std::min(wake_at_, now_ + 100 * kMilli);
    return;
  }
  if (lock != Instance::Lock::kTaken) {
    log_event(kError, "instance.not_locked", "folder=%s", Quoted(answer_.runtime_dir).c_str());
    return give_up(kExitCannotCreate);
  }
  if (!instance_.make_files(answer_.runtime_dir, answer_.instance, ipc::worker_count(answer_)))
    return give_up(kExitCannotCreate);
  database_.use(*answer_.embedded_dir != 0);
  enter(Phase::kDatabase);
}

// Redirects standard error to the log file, if there is one. A failure was logged.
bool Supervisor::open_log_file() {
  if (answer_.log_file[0] == '\0') return true;
  const UniqueFd file(open_log(answer_.log_file));
  if (!file.valid()) {
    log_event(kError, "log.not_opened", "file=%s error=\"%s\"", Quoted(answer_.log_file).c_str(),
              std::strerror(errno));
    return false;
  }
  dup2(file.get(), STDOUT_FILENO);
  return dup2(file.get(), STDERR_FILENO) >= 0;
}

// Before kRunning the file is not open in any child; later children open the file of that name
// themselves.
void Supervisor::reopen_logs() {
  if (phase_ < Phase::kRunning) return;
  if (open_log_file()) log_event(kInfo, "log.reopened", "pid=%d", getpid());
  workers_.reopen_logs();
  gateway_.tell(SIGUSR1);
}

void Supervisor::adopt() {
  open_log_file();  // not before: a failed start reports where it was started
  workers_.adopt(answer_, check_.take_checked());
  gateway_.use(answer_.gateway != 0);
  if (!mutant::removed("side_child_reload")) gateway_.tell(SIGHUP, workers_.config_fd());
}

void Supervisor::stop(bool now) {
  check_.end();
  if (phase_ < Phase::kStopping) {
    notifier_.send("STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu",
                   static_cast<unsigned long long>(answer_.stop_ms) * 1000 +
                       (kSettlePatience + kDatabasePatience) / kMicro);
    enter(Phase::kStopping);
    gateway_.use(false);
    if (!now) workers_.stop_all();
  }
  if (now) kill_all("stop now", kSettleNow);
}

void Supervisor::kill_all(const char* why, Nanos settle_patience) {
  if (settle_until_ != 0) return;
  settle_until_ = now_ + settle_patience;
  workers_.kill_all(why);
  gateway_.tell(SIGKILL);
}

void Supervisor::stopping() {
  workers_.tick(now_, wake_at_);
  const bool empty = workers_.all_vacant();
  if (!empty && now_ - phase_began_ > Nanos{answer_.stop_ms} * kMilli) {
    kill_all("did not stop in time", kSettlePatience);
  }
  if (!empty) {
    // Settlers need the database, so they come before its end. Without a database the stop does not
    // wait for them forever: the leases then expire, or the next start reclaims them (S11).
    if (settle_until_ == 0 || now_ < settle_until_) return;
    log_event(kWarn, "supervisor.unsettled", "slots=%d", workers_.counts().settling);
    workers_.kill_settlers();
  }
  if (stray_until_ == 0) stray_until_ = now_ + kSettlePatience;
  if ((!end_strays() || !gateway_.gone()) && now_ < stray_until_) return;
  gateway_.tell(SIGKILL);
  database_.use(false);
  enter(Phase::kStoppingDatabase);
}

void Supervisor::give_up(int code) {
  exit_code_ = code;
  stop(true);
}

void Supervisor::tell_status() {
  const Workers::Counts counts = told_ = workers_.counts();
  notifier_.send("STATUS=%s: %d workers ready, %d starting, %d leaving, %d being settled%s",
                 name_of(phase_), counts.ready, counts.starting, counts.leaving, counts.settling,
                 phase_ == Phase::kDatabase ? "; waiting for the database"
                 : counts.away > 0          ? "; the database is away"
                                            : "");
}

}  // namespace allot::supervisor

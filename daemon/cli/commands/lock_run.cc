// SPDX-License-Identifier: Apache-2.0
// allot lock run: runs a command only while it holds a lock.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "cli/commands/command.h"
#include "cli/sources/context.h"
#include "cli/sources/guarded_command.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "db/from_settings.h"
#include "json/fields.h"
#include "peer/lock_bell.h"
#include "queue/locks/lock_keeper.h"
#include "queue/locks/lock_store.h"
#include "queue/locks/lock_wait.h"
#include "queue/model/server_change.h"

namespace allot::cli {
namespace {

// EX_TEMPFAIL of sysexits.h; the command has not run.
constexpr int kNotGot = kExitOutcomeUnknown;
constexpr Nanos kCheckInterval = 50 * kMilli;

struct RunOptions {
  std::string name;
  std::optional<std::uint32_t> slots;
  std::string ttl = "30s";
  std::string wait = "0s";
  std::vector<std::string> command;
  bool json = false;
};

// Signals that request the end of this program. Blocked in all its threads and read here.
class Signals {
 public:
  Signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&wanted, signal);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    fd_.reset(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_.valid()) throw Error(std::string("signalfd: ") + std::strerror(errno));
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  // 0: no signal is pending.
  [[nodiscard]] int next() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
    return static_cast<int>(info.ssi_signo);
  }
  // Sleeps until `until` or until a signal arrives, which is returned.
  [[nodiscard]] int wait(Nanos until) const {
    const Nanos now = boot_ns();
    pollfd polled{fd_.get(), POLLIN, 0};
    const Nanos left = until > now ? std::min(until - now, kSecond) : 0;
    ::poll(&polled, 1, static_cast<int>((left + kMilli - 1) / kMilli));
    return next();
  }
  // The same, and also until the bell rings. The two cannot be waited for at the same time.
  [[nodiscard]] int wait(Nanos until, peer::LockBell& bell, std::uint32_t seen) const {
    for (Nanos now = boot_ns(); now < until && bell.seen() == seen; now = boot_ns()) {
      if (const int signal = next()) return signal;
      bell.wait(seen, std::min(until - now, kCheckInterval));
    }
    return next();
  }

 private:
  UniqueFd fd_;
};

// Time at which the command has to end; its group is killed at `kill_ns`.
GuardedCommand::Until until_of(const queue::HeldLock& lock, Nanos ends_ns) {
  return {ends_ns - queue::spare_ns(lock), ends_ns - queue::margin_ns(lock)};
}

// Result of the request for a lock.
struct Got {
  std::optional<queue::HeldLock> lock;
  int signal = 0;  // that ended the wait
};

// A connection that is opened again when it is lost. The first attempt must succeed.
class Line {
 public:
  Line(const config::Settings& settings, const queue::LockSpec& spec)
      : settings_(settings),
        db_(connect(settings)),
        wait_(spec, queue::make_holder("", ""), floor_) {}

  // Rings for the waiters behind this one: the queue has advanced.
  Got wait_for_it(Nanos until, const Signals& signals, peer::LockBell& bell) {
    Got got;
    for (;;) {
      const std::uint32_t seen = bell.seen();
      got.lock = poll();
      if (got.lock) break;
      const Nanos next = std::min(until, wait_.next_ns());
      if (boot_ns() < until) {
        got.signal = wait_.near() ? signals.wait(next, bell, seen) : signals.wait(next);
        if (got.signal == 0) continue;
      }
      give_up();
      break;
    }
    bell.ring();
    return got;
  }
  // For the message: the holders, or the reason why the lock is unavailable.
  [[nodiscard]] std::string holders(const queue::LockSpec& spec) {
    std::string text;
    try {
      if (!db_) return text;
      const auto view = queue::show_lock(*db_, spec.name);
      if (!view) return text;
      const auto change = queue::last_server_change(*db_);
      if (view->held.empty() && change && change->ago <= spec.ttl + std::chrono::seconds(1)) {
        return "the database server changed " + std::to_string(change->ago.count()) +
               " s ago: a free lock cannot be taken before its ttl plus 1 s";
      }
      for (const queue::LockSlotView& slot : view->held) {
        if (text.size() > kShownError) return text + ", ...";
        text += (text.empty() ? "held by " : ", ") + slot.host + "/" + std::to_string(slot.pid);
      }
      if (view->line.empty()) return text;
      text += (text.empty() ? "" : "; ") + std::to_string(view->line.size()) + " wait";
    } catch (const db::DbError&) {
      // Affects only the message.
    }
    return text;
  }

 private:
  std::optional<queue::HeldLock> poll() {
    try {
      if (!db_) {
        db_.emplace(connect(settings_));
        ++generation_;
      }
      return wait_.poll(*db_, generation_);
    } catch (const db::DbError& error) {
      if (error.error_class() == db::ErrorClass::kGone)
        db_.reset();
      else if (error.error_class() != db::ErrorClass::kRetryable)
        throw;
      return std::nullopt;
    }
  }
  void give_up() {
    try {
      if (db_) wait_.give_up(*db_);
    } catch (const db::DbError&) {
      // The ticket, and a lock whose reply was lost, expire by themselves.
    }
  }

  const config::Settings& settings_;
  std::optional<db::Connection> db_;
  std::uint64_t generation_ = 1;
  queue::TokenFloor floor_;
  queue::LockWait wait_;
};

// Runs the command to its end under the lock. Returns its exit code.
int run_under(queue::LockKeeper& keeper, GuardedCommand& command, const Signals& signals,
              const std::atomic<Nanos>& kill_ns) {
  while (!command.exit_code()) {
    std::array<pollfd, 2> polled{{{command.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), static_cast<int>(kCheckInterval / kMilli));
    while (const int signal = signals.next()) command.pass_on(signal);
    if (polled[0].revents != 0) {
      command.read_reports();
      continue;
    }
    // The guardian should have killed it, but is stopped.
    if (!keeper.held() && boot_ns() > kill_ns.load() + kCheckInterval) command.end_group();
  }
  return *command.exit_code();
}

void say(const RunOptions& options, const std::optional<queue::HeldLock>& lock, bool lost,
         int code) {
  if (!options.json) return;
  nlohmann::json out{{"name", printable(options.name, 4 * queue::kMaxLockName)},
                     {"acquired", lock.has_value()},
                     {"lost", lost},
                     {"exit_code", code}};
  if (lock) {
    out["slot"] = lock->slot;
    out["token"] = lock->token;
  }
  std::fprintf(stderr, "%s\n", out.dump().c_str());
}

int not_got(const RunOptions& options, const queue::LockSpec& spec, Line& line, int signal) {
  const std::string holders = line.holders(spec);
  std::fprintf(stderr, "%s lock '%s' was not obtained%s%s\n", error_head().c_str(),
               printable(options.name, queue::kMaxLockName).c_str(), holders.empty() ? "" : ": ",
               printable(holders, kShownError * 2).c_str());
  const int code = signal != 0 ? 128 + signal : kNotGot;
  say(options, std::nullopt, false, code);
  return code;
}

int run_command(const Context& context, const RunOptions& options) {
  const queue::LockSpec spec{options.name, options.slots,
                             std::chrono::duration_cast<std::chrono::milliseconds>(
                                 as_json::parse_delay("ttl", options.ttl))};
  const auto patience = as_json::parse_delay("wait", options.wait);
  queue::validate(spec);
  const Signals signals;
  GuardedCommand command(options.command);
  const config::Settings settings = context.settings();
  Line line(settings, spec);
  const Nanos until = boot_ns() + static_cast<Nanos>(patience.count()) * kMicro;
  peer::LockBell bell(local_folder(settings), spec.name);
  const Got got = line.wait_for_it(until, signals, bell);
  if (!got.lock) return not_got(options, spec, line, got.signal);

  const queue::HeldLock& lock = *got.lock;
  std::atomic<Nanos> kill_ns{until_of(lock, queue::ends_ns(lock)).kill_ns};
  std::atomic<bool> lost{false};
  queue::LockKeeper::Events events;
  events.renewed = [&](Nanos ends_ns) {
    const auto put_off = until_of(lock, ends_ns);
    kill_ns = put_off.kill_ns;
    command.put_off(put_off);
  };
  events.lost = [&](const std::string& reason, bool gone) {
    lost = true;
    if (gone) {
      kill_ns = boot_ns();
      command.end_now();
    }
    std::fprintf(stderr, "%s lock '%s' is lost: %s\n", error_head().c_str(),
                 printable(lock.name, queue::kMaxLockName).c_str(),
                 printable(reason, kShownError).c_str());
  };
  command.start(lock.token, until_of(lock, queue::ends_ns(lock)));
  queue::LockKeeper keeper(db::from_settings(settings), lock, queue::spare_ns(lock),
                           std::move(events));
  const int code = run_under(keeper, command, signals, kill_ns);
  const bool released = keeper.release();
  if (released) bell.ring();
  if (!released && !lost) {
    std::fprintf(stderr, "%s lock '%s' is lost or was not released: it expires after its ttl\n",
                 error_head().c_str(), printable(lock.name, queue::kMaxLockName).c_str());
  }
  say(options, lock, lost, code);
  return code;
}

}  // namespace

void add_lock_run(CLI::App& lock, const Commands& commands) {
  const auto [run, options] = commands.add(
      lock, "run", "Run a command while holding a lock, and return its exit code", run_command);
  run.add_option("NAME", options->name, "Name of the lock, which is created at first use")
      ->required();
  run.add_option("COMMAND", options->command, "Command and its arguments, after --")->required();
  run.add_option("--slots", options->slots, "Number of holders at a time; default: unchanged, or 1")
      ->type_name("SLOTS");
  add_text(run, "--ttl", "TIME", options->ttl,
           "Lifetime of the lock without renewal; afterwards others may take it");
  add_text(run, "--wait", "TIME", options->wait, "Time to wait for the lock; 0s: do not wait");
  run.get_option("--json")->description("Report the result on standard error as JSON");
}

}  // namespace allot::cli

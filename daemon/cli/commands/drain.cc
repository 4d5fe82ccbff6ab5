// SPDX-License-Identifier: Apache-2.0
#include "config/drain.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "cli/commands/command.h"
#include "cli/sources/context.h"
#include "cli/sources/input.h"
#include "cli/sources/programs.h"
#include "cli/words/instance_text.h"
#include "cli/words/text.h"
#include "peer/drain_budget.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/lease_store.h"
#include "queue/verbs/rated.h"
#include "queue/views/task_lists.h"
#include "trust/trust.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;

struct DrainOptions {
  std::string queue;
  std::uint32_t max_tasks = 0;    // attempts; 0: no limit
  std::uint32_t max_seconds = 0;  // 0: no limit
  std::uint32_t jobs = 4;         // workers
  std::uint32_t at_most = 1;      // maximum number of drains of this queue on this host
  bool json = false;
};

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr int kQuietPolls = 3;                  // consecutive polls before the queue counts as idle
constexpr Nanos kStartPatience = 60 * kSecond;  // for a ready worker or a lost database
constexpr std::size_t kShownLines = 10;         // lines of the daemon's log that are shown

// One of the `at_most` places that a queue has on this host. The daemon inherits its lock, so that
// the place stays occupied until both processes are gone.
struct Place {
  UniqueFd lock;
  std::uint32_t number = 0;
  std::string folder;
};

std::optional<Place> take_place(const std::string& folder, const DrainOptions& options) {
  trust::make_folder(folder, trust::Role::kOwnFolder, "the folder of drains");
  for (std::uint32_t number = 1; number <= options.at_most; ++number) {
    Place place{{}, number, folder + "/" + options.queue + "." + std::to_string(number)};
    const std::string path = place.folder + ".lock";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    // The descriptor is above those that the daemon's children expect, and it survives exec.
    place.lock.reset(file < 0 ? -1 : fcntl(file, F_DUPFD, 64));
    if (file >= 0) close(file);
    if (!place.lock.valid()) {
      throw Error(path + ": " + std::strerror(errno), kExitCannotCreate);
    }
    if (flock(place.lock.get(), LOCK_EX | LOCK_NB) == 0) return place;
  }
  return std::nullopt;
}

// One instance name per place, so that a drain frees the leases of a killed predecessor (S11).
std::string instance_of(const Place& place) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "drain-%016zx", std::hash<std::string>{}(place.folder));
  return text.data();
}

std::string last_lines(const std::string& path, std::size_t most) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > most) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n" + printable(line, 1000);
  return text;
}

// The daemon of one drain.
class Child {
 public:
  Child(const std::string& program, const std::string& config, const std::string& log) : log_(log) {
    const UniqueFd out(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
    if (!out.valid()) throw Error(log + ": " + std::strerror(errno), kExitCannotCreate);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw Error(std::string("fork: ") + std::strerror(errno));
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // if the parent is killed, the workers finish and exit
    if (getppid() != parent) _exit(kExitFailure);
    setpgid(0, 0);  // the parent forwards a terminal's Ctrl-C
    dup2(out.get(), STDOUT_FILENO);
    dup2(out.get(), STDERR_FILENO);
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
    std::signal(SIGPIPE, SIG_DFL);
    execl(program.c_str(), "allotd", "--config", config.c_str(), nullptr);
    _exit(kExitConfig);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // The daemon never outlives this process: an early end also ends the daemon.
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

  void signal(int number) const { kill(pid_, number); }
  // True once the daemon has ended; then code() is its exit code.
  bool gone() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailure;
    }
    return pid_ <= 0;
  }
  [[nodiscard]] int code() const { return code_; }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  std::string log_;
  pid_t pid_ = -1;
  int code_ = kExitOk;
};

class Drain {
 public:
  Drain(const Context& context, const config::Settings& settings, const DrainOptions& options,
        Place place)
      : context_(context), settings_(settings), options_(options), place_(std::move(place)) {}

  int run() {
    connect_first();
    trust::make_folder(place_.folder, trust::Role::kOwnFolder, "the folder of this drain");
    std::error_code ignored;
    fs::remove(place_.folder + "/slots", ignored);  // counts of an earlier drain
    const auto most = options_.max_tasks == 0 ? std::numeric_limits<std::int64_t>::max() / 2
                                              : static_cast<std::int64_t>(options_.max_tasks);
    budget_ = peer::make_drain_budget(place_.folder + "/budget", most);
    if (budget_ == nullptr) {
      throw Error(place_.folder + "/budget: " + std::strerror(errno), kExitCannotCreate);
    }
    note_interrupts();
    Child child(program_path("allotd"), write_config(), place_.folder + "/log");
    watch(child);
    return report(child);
  }

 private:
  // If the private database does not run, the daemon starts it.
  void connect_first() {
    try {
      db_.emplace(connect(settings_));
    } catch (const Error& error) {
      if (settings_.database.embedded.empty() || error.exit_code() != kExitUnavailable) throw;
      own_database_ = true;
      return;
    }
    find_queue();
  }

  void find_queue() { queue_ = queue_named(*db_, settings_, options_.queue); }

  std::string write_config() const {
    config::Drain drain;
    if (!settings_.file.empty()) drain.config = fs::absolute(settings_.file).string();
    drain.queue = options_.queue;
    drain.jobs = options_.jobs;
    drain.instance = instance_of(place_);
    drain.runtime_dir = fs::absolute(place_.folder).string();
    drain.own_database = own_database_;
    if (!context_.load.embedded.empty()) drain.embedded = settings_.database.embedded;
    std::string path = drain.runtime_dir + "/" + config::kDrainFile;
    std::ofstream file(path, std::ios::trunc);
    file << config::drain_text(drain);
    if (!file.flush()) throw Error(path + ": cannot be written", kExitCannotCreate);
    return path;
  }

  // Ends the daemon at the right time and waits for it to exit.
  void watch(Child& child) {
    const Nanos began = mono_ns();
    int quiet = 0;
    for (; !child.gone(); std::this_thread::sleep_for(kLook)) {
      if (!ended_.empty()) continue;
      const Nanos passed = mono_ns() - began;
      if (options_.max_seconds != 0 && passed >= options_.max_seconds * kSecond && !over_time_) {
        over_time_ = budget_->allowed > 0;
        peer::close(*budget_);  // running tasks may finish
      }
      const InstanceView view = read_instance(place_.folder);
      seen_ready_ = seen_ready_ || ready(view);
      const bool due = !seen_ready_ || !idle(view) || !nothing_due();
      // Tasks of an unsettled worker are due, too, but a scout does not see them.
      quiet = !due && view.unsettled == 0 ? quiet + 1 : 0;
      if (interrupted()) {
        ended_ = "interrupted";
      } else if (budget_->allowed <= 0 && idle(view)) {
        ended_ = over_time_ ? "max_seconds" : "max_tasks";
      } else if (!seen_ready_ && passed > kStartPatience) {
        ended_ = "no_worker";
      } else if (lost_since_ != 0 && mono_ns() - lost_since_ > kStartPatience) {
        ended_ = "database_unreachable";
      } else if (quiet >= kQuietPolls) {
        ended_ = "empty";
      }
      if (!ended_.empty()) {
        count_left();  // the private database may stop with the daemon
        child.signal(SIGTERM);
      }
    }
  }

  static bool ready(const InstanceView& view) {
    return std::any_of(view.workers.begin(), view.workers.end(), [](const WorkerView& worker) {
      return worker.state != "blank" && worker.state != "connecting";
    });
  }

  static bool idle(const InstanceView& view) {
    return !view.workers.empty() &&
           std::all_of(view.workers.begin(), view.workers.end(), [](const WorkerView& worker) {
             return !worker.leases && worker.running.empty();
           });
  }

  // Tasks under leases of other workers are not counted as due.
  bool nothing_due() {
    try {
      if (!db_) {
        db_.emplace(connect(settings_));
        find_queue();
      }
      const std::array<std::uint32_t, 1> ids{queue_.queue_id};
      const bool none = queue::LeaseStore::scout(*db_, ids).empty() &&
                        queue::scout_rated(*db_, ids, {}, queue::Closed::kToo).found.empty();
      lost_since_ = 0;
      return none;
    } catch (const Error& error) {
      if (error.exit_code() != kExitUnavailable) throw;
      db_.reset();
      if (lost_since_ == 0) lost_since_ = mono_ns();
      return false;
    }
  }

  void count_left() {
    try {
      if (!db_) db_.emplace(connect(settings_));
      left_ = queue::count_waiting(*db_, queue_);
    } catch (const Error&) {
      left_.reset();
      db_.reset();
    }
  }

  int report(const Child& child) {
    if (!own_database_ || db_) count_left();
    const std::uint64_t started = budget_->started;
    const std::uint64_t failed = budget_->failed;
    const std::uint64_t done = budget_->done;
    const std::string why = ended_.empty() ? "daemon_ended" : ended_;
    int code = child.code();
    if (code == kExitOk && (why == "no_worker" || why == "database_unreachable"))
      code = kExitUnavailable;
    const bool early = why == "interrupted" || why == "daemon_ended";
    if (code == kExitOk && (failed > 0 || early)) code = kExitFailure;
    const nlohmann::ordered_json view = {
        {"queue", options_.queue},
        {"started", started},
        {"done", done},
        {"failed", failed},
        {"remaining", left_ ? nlohmann::ordered_json(left_->value) : nullptr},
        {"remaining_at_least", left_ && left_->at_least},
        {"reason", why},
        {"exit_code", code}};
    if (options_.json) {
      std::printf("%s\n", view.dump().c_str());
    } else {
      const std::string left =
          left_ ? std::to_string(left_->value) + (left_->at_least ? "+" : "") : "an unknown number";
      std::printf("queue %s: %llu attempts, %llu done, %llu failed; %s left (%s)\n",
                  options_.queue.c_str(), static_cast<unsigned long long>(started),
                  static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed),
                  left.c_str(), why.c_str());
    }
    if (code != kExitOk && (code != kExitFailure || why == "daemon_ended")) {
      throw Error("the drain did not end normally (" + why + "); its log is " + child.log() +
                      " and ends with:" + last_lines(child.log(), kShownLines),
                  static_cast<ExitCode>(code));
    }
    return code;
  }

  const Context& context_;
  const config::Settings& settings_;
  const DrainOptions& options_;
  Place place_;
  std::optional<db::Connection> db_;
  queue::QueueInfo queue_;
  peer::DrainBudget* budget_ = nullptr;
  bool own_database_ = false;
  bool seen_ready_ = false;
  bool over_time_ = false;
  Nanos lost_since_ = 0;
  std::string ended_;  // reason, in one word
  std::optional<queue::BoundedCount> left_;
};

// allot drain starts an allotd that serves one queue until nothing is due there or a limit is
// reached. The exit code is 0 if no attempt failed, 1 if some failed or the drain was ended early,
// else the code of the daemon.
int drain(const Context& context, const DrainOptions& options) {
  const config::Settings settings = context.settings();
  if (options.queue.empty() || options.queue.find('/') != std::string::npos) {
    throw Error("--queue: not the name of a queue", kExitBadInput);
  }
  auto place = take_place(config::runtime_dir(settings) + "/drain", options);
  if (place) return Drain(context, settings, options, std::move(*place)).run();
  const nlohmann::json busy{{"queue", options.queue}, {"started", 0}, {"reason", "busy"}};
  return print_as(options.json, busy, [&] {
    std::printf("queue %s: nothing done, %u of its drains are already running\n",
                options.queue.c_str(), options.at_most);
  });
}

}  // namespace

void add_drain(CLI::App& app, const Commands& commands) {
  const auto [command, options] = commands.add(
      app, "drain", "Run the due tasks of a queue without the daemon, then exit; for cron", drain);
  add_text(command, "--queue", "QUEUE", options->queue, "The queue").required();
  add_number(command, "--max-tasks", "TASKS", options->max_tasks, 1'000'000'000,
             "Start no more attempts than this");
  add_number(command, "--max-seconds", "SECONDS", options->max_seconds, 86'400 * 30,
             "Start no more attempts after this");
  add_number(command, "--jobs", "WORKERS", options->jobs, config::kMaxWorkers, "Number of workers");
  add_number(command, "--at-most", "DRAINS", options->at_most, 256,
             "Do nothing if this many drains of the queue are running on this host");
}

}  // namespace allot::cli

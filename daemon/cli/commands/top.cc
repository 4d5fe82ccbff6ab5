// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/words/instance_text.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/host_json.h"

namespace allot::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

struct TopOptions {
  std::chrono::microseconds interval = std::chrono::seconds(1);  // between two updates
  bool once = false;
  bool json = false;  // print once
};

// Full-screen terminal, restored at the end. Keys are read one by one, without echo.
class Screen {
 public:
  Screen() {
    keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (keys_) {
      termios mode = before_;
      mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      keys_ = tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0;
    }
    put("\x1b[?1049h\x1b[?25l");  // the alternate screen, no cursor
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    put("\x1b[?25h\x1b[?1049l");
    if (keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  // Replaces the screen with as much of the text as fits.
  static void show(const std::string& text) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
    std::istringstream lines(text);
    std::string frame = "\x1b[H";
    int row = 0;
    for (std::string line; row < size.ws_row && std::getline(lines, line); ++row) {
      frame += (row == 0 ? "" : "\r\n") + cut(line, size.ws_col) + "\x1b[K";
    }
    put(frame + "\x1b[J");
  }

  // False: the user typed q, or a signal arrived.
  [[nodiscard]] bool wait(milliseconds time) const {
    if (wait_readable(keys_ ? STDIN_FILENO : -1, std::max(time, milliseconds(1)))) {
      char key = 'q';  // the terminal was closed
      if (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q') return false;
    }
    return !interrupted();
  }

 private:
  static void put(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  // Shortens a line without splitting a character.
  static std::string cut(const std::string& line, std::size_t columns) {
    if (line.size() <= columns) return line;
    while (columns > 0 && (static_cast<unsigned char>(line[columns]) & 0xc0U) == 0x80U) --columns;
    return line.substr(0, columns);
  }

  termios before_{};
  bool keys_ = false;
};

// Verdicts per second of the workers, between two samples.
class Rates {
 public:
  // `now` in CLOCK_MONOTONIC.
  void update(const InstanceView& view, Nanos now) {
    known_ = updated_ns_ && now > *updated_ns_;
    const double seconds =
        known_ ? static_cast<double>(now - *updated_ns_) / static_cast<double>(kSecond) : 1;
    std::map<Key, Counts> counts;
    rates_.clear();
    for (const WorkerView& worker : view.workers) {
      const Key key{worker.slot, worker.pid};
      const Counts& is = counts[key] = {worker.done, worker.retried, worker.dead};
      const Counts& was = before_[key];
      for (std::size_t i = 0; i < is.size(); ++i) {
        rates_[key][i] = is[i] > was[i] ? static_cast<double>(is[i] - was[i]) / seconds : 0;
      }
    }
    before_ = std::move(counts);
    updated_ns_ = now;
  }

  // null before the second sample. The counts of a worker that was missing in the previous sample
  // began at 0.
  [[nodiscard]] json of(const WorkerView& worker) const {
    return document(rates_.at({worker.slot, worker.pid}));
  }
  // Sum over all workers.
  [[nodiscard]] json of_all() const {
    Rate all{};
    for (const auto& [key, rate] : rates_) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += rate[i];
    }
    return document(all);
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // slot, pid
  using Counts = std::array<std::uint64_t, 3>;          // done, retried, dead
  using Rate = std::array<double, 3>;

  [[nodiscard]] json document(const Rate& rate) const {
    if (!known_) return nullptr;
    return {{"done", rate[0]}, {"retried", rate[1]}, {"dead", rate[2]}};
  }

  std::map<Key, Counts> before_;
  std::map<Key, Rate> rates_;
  std::optional<Nanos> updated_ns_;
  bool known_ = false;
};

// The sum of these rates.
std::string per_second(const json& rates, std::initializer_list<const char*> which) {
  if (rates.is_null()) return "-";
  double rate = 0;
  for (const char* each : which) rate += rates.at(each).get<double>();
  std::ostringstream text;
  text.precision(rate > 0 && rate < 100 ? 1 : 0);
  text << std::fixed << rate;
  return text.str();
}

json document_of(const config::Settings& settings, const InstanceView& view, const Rates& rates) {
  json workers = json::array();
  std::size_t tasks = 0;
  for (const WorkerView& worker : view.workers) {
    tasks += worker.running.size();
    workers.push_back(as_json::worker(worker));
    workers.back()["per_second"] = rates.of(worker);
  }
  return {{"instance",
           {{"name", settings.daemon.instance},
            {"running", view.running},
            {"runtime_dir", view.runtime_dir},
            {"supervisor_pid", view.supervisor_pid}}},
          {"running", tasks},
          {"per_second", rates.of_all()},
          {"workers", std::move(workers)},
          {"stewards", as_json::stewards(view)}};
}

std::string as_text(const config::Settings& settings, const InstanceView& view,
                    const Rates& rates) {
  if (!view.trouble.empty()) return "the workers cannot be shown: " + view.trouble + "\n";
  if (!view.running) {
    return "no allotd is running for instance '" + settings.daemon.instance + "' (" +
           view.runtime_dir + ")\n";
  }
  const json document = document_of(settings, view, rates);
  const json& all = document.at("per_second");
  const json& tasks = document.at("running");
  std::string text =
      "allotd " + std::to_string(view.supervisor_pid) + ", instance '" + settings.daemon.instance +
      "': " + std::to_string(view.workers.size()) + " workers, " + tasks.dump() +
      (tasks == 1 ? " task" : " tasks") + " running\n" + per_second(all, {"done"}) + " done/s, " +
      per_second(all, {"retried"}) + " retried/s, " + per_second(all, {"dead"}) + " dead/s\n\n";
  const auto away =
      std::count_if(view.workers.begin(), view.workers.end(),
                    [](const WorkerView& worker) { return worker.database_unreachable; });
  if (away > 0) {
    text += "the database has been away for " + std::to_string(away) + " of " +
            std::to_string(view.workers.size()) + " workers\n\n";
  }
  const auto done = [](const json& worker) {
    return per_second(worker.at("per_second"), {"done"});
  };
  const auto failed = [](const json& worker) {
    return per_second(worker.at("per_second"), {"retried", "dead"});
  };
  // The table is narrow, so that running tasks are visible in 80 columns.
  text += table_of(document.at("workers"), {{"SLOT", "slot"},
                                            {"PID", "pid"},
                                            {"STATE", "state"},
                                            {"PARTITION", partition_text},
                                            {"DONE/S", done},
                                            {"FAILED/S", failed},
                                            {"RUNNING", running_text}});
  text += stewards_text(view) + "\n";
  for (const std::string& line : instance_troubles(view, settings)) text += line + "\n";
  return text;
}

int show_once(const config::Settings& settings, const std::string& folder,
              const TopOptions& options) {
  Rates rates;
  rates.update(read_instance(folder), mono_ns());
  std::this_thread::sleep_for(options.interval);
  const InstanceView view = read_instance(folder);
  rates.update(view, mono_ns());
  print_as(options.json, document_of(settings, view, rates),
           [&] { std::printf("%s", as_text(settings, view, rates).c_str()); });
  return view.running && view.trouble.empty() ? kExitOk : kExitFailure;
}

// allot top shows this host's workers from the slot table, with rates per second, until an
// interrupt or q; prints once if standard output is not a terminal. It does not query the database.
int top(const Context& context, const TopOptions& options) {
  const config::Settings settings = context.settings();
  const std::string folder = config::runtime_dir(settings);
  if (options.once || options.json || !is_terminal(STDOUT_FILENO)) {
    return show_once(settings, folder, options);
  }
  note_interrupts();
  const Screen screen;
  Rates rates;
  do {
    const InstanceView view = read_instance(folder);
    rates.update(view, mono_ns());
    Screen::show(as_text(settings, view, rates));
  } while (screen.wait(std::chrono::duration_cast<milliseconds>(options.interval)));
  return kExitOk;
}

}  // namespace

void add_top(CLI::App& app, const Commands& commands) {
  const auto [command, options] =
      commands.add(app, "top", "Watch this host's workers: rates and running tasks", top);
  add_time(command, "--interval", options->interval, "Refresh interval: 300ms, 2s [1s]");
  command.add_flag("--once", options->once, "Print once, after one interval");
  command.get_option("--json")->description("Once, as JSON");
}

}  // namespace allot::cli

// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/sources/rates.h"
#include "cli/words/instance_text.h"
#include "cli/words/task_view.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "json/due.h"
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

std::string per_second(double rate) {
  std::ostringstream text;
  text.precision(rate > 0 && rate < 100 ? 1 : 0);
  text << std::fixed << rate;
  return text.str();
}

std::string per_second(const std::optional<Rate>& rate, double Rate::*which) {
  return rate ? per_second((*rate).*which) : "-";
}

std::size_t running_tasks(const InstanceView& view) {
  std::size_t tasks = 0;
  for (const WorkerView& worker : view.workers) tasks += worker.running.size();
  return tasks;
}

std::string as_text(const config::Settings& settings, const InstanceView& view,
                    const Rates& rates) {
  if (!view.trouble.empty()) return "the workers cannot be shown: " + view.trouble + "\n";
  if (!view.running) {
    return "no allotd is running for instance '" + settings.daemon.instance + "' (" +
           view.runtime_dir + ")\n";
  }
  const auto all = rates.of_all();
  const std::size_t tasks = running_tasks(view);
  std::string text = "allotd " + std::to_string(view.supervisor_pid) + ", instance '" +
                     settings.daemon.instance + "': " + std::to_string(view.workers.size()) +
                     " workers, " + std::to_string(tasks) + (tasks == 1 ? " task" : " tasks") +
                     " running\n" + per_second(all, &Rate::done) + " done/s, " +
                     per_second(all, &Rate::retried) + " retried/s, " +
                     per_second(all, &Rate::dead) + " dead/s\n\n";
  const auto away =
      std::count_if(view.workers.begin(), view.workers.end(),
                    [](const WorkerView& worker) { return worker.database_unreachable; });
  if (away > 0) {
    text += "the database has been away for " + std::to_string(away) + " of " +
            std::to_string(view.workers.size()) + " workers\n\n";
  }
  // The table is narrow, so that running tasks are visible in 80 columns.
  Table table({"SLOT", "PID", "STATE", "PARTITION", "DONE/S", "FAILED/S", "RUNNING"});
  for (const WorkerView& worker : view.workers) {
    const auto rate = rates.of(worker);
    const std::string failed = rate ? per_second(rate->retried + rate->dead) : "-";
    table.add({std::to_string(worker.slot), std::to_string(worker.pid), worker.state,
               partition_text(worker), per_second(rate, &Rate::done), failed,
               running_text(worker.running)});
  }
  text += table.text() + stewards_text(view) + "\n";
  for (const std::string& line : instance_troubles(view, settings)) text += line + "\n";
  return text;
}

json rate_json(const std::optional<Rate>& rate) {
  if (!rate) return nullptr;
  return {{"done", rate->done}, {"retried", rate->retried}, {"dead", rate->dead}};
}

json as_json(const config::Settings& settings, const InstanceView& view, const Rates& rates) {
  json workers = json::array();
  for (const WorkerView& worker : view.workers) {
    json one = as_json::worker(worker);
    one["per_second"] = rate_json(rates.of(worker));
    workers.push_back(std::move(one));
  }
  return {{"instance",
           {{"name", settings.daemon.instance},
            {"running", view.running},
            {"runtime_dir", view.runtime_dir},
            {"supervisor_pid", view.supervisor_pid}}},
          {"running", running_tasks(view)},
          {"per_second", rate_json(rates.of_all())},
          {"workers", std::move(workers)},
          {"stewards", as_json::stewards(view)}};
}

int show_once(const config::Settings& settings, const std::string& folder,
              const TopOptions& options) {
  Rates rates;
  rates.update(read_instance(folder), mono_ns());
  std::this_thread::sleep_for(options.interval);
  const InstanceView view = read_instance(folder);
  rates.update(view, mono_ns());
  if (options.json) {
    print(as_json(settings, view, rates));
  } else {
    std::printf("%s", as_text(settings, view, rates).c_str());
  }
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
  const auto options = std::make_shared<TopOptions>();
  CLI::App& command =
      *app.add_subcommand("top", "Watch this host's workers: rates and running tasks");
  command
      .add_option_function<std::string>(
          "--interval",
          [options](const auto& text) {
            options->interval = as_json::parse_delay("--interval", text);
          },
          "Refresh interval: 300ms, 2s [1s]")
      ->type_name("TIME");
  command.add_flag("--once", options->once, "Print once, after one interval");
  command.add_flag("--json", options->json, "Once, as JSON");
  command.callback([commands, options] { commands.choose(top, options); });
}

}  // namespace allot::cli

// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.h"
#include "cli/sources/input.h"
#include "cli/words/text.h"
#include "host/instance_view.h"

namespace allot::cli {
namespace {

struct ReloadOptions {
  bool wait = false;
  bool json = false;
};

constexpr std::chrono::milliseconds kPollInterval{100};

host::InstanceView running_instance(const config::Settings& settings) {
  host::InstanceView view = host::read_instance(config::runtime_dir(settings));
  if (!view.trouble.empty()) throw Error(view.trouble, kExitUnavailable);
  if (!view.running) {
    throw Error("no allotd is running for instance '" + settings.daemon.instance + "' (" +
                    view.runtime_dir + ")",
                kExitUnavailable);
  }
  return view;
}

// Sends HUP and waits until the daemon has started the reload. Returns the number of the reload.
std::uint32_t begin_reload(const config::Settings& settings) {
  const host::InstanceView before = running_instance(settings);
  if (kill(static_cast<pid_t>(before.supervisor_pid), SIGHUP) != 0) {
    throw Error("allotd " + std::to_string(before.supervisor_pid) + ": " + std::strerror(errno) +
                    "; only its account and root may reload it",
                kExitUnavailable);
  }
  for (;;) {
    const host::InstanceView now = running_instance(settings);
    if (now.reloads.begun != before.reloads.begun) return now.reloads.begun;
    (void)wait_readable(-1, kPollInterval);
    if (interrupted()) throw Error("interrupted", kExitUnavailable);
  }
}

// Waits until all workers of the previous configuration have ended.
void await_end(const config::Settings& settings, std::uint32_t reload) {
  for (;;) {
    const host::InstanceView now = running_instance(settings);
    if (now.reloads.finished >= reload) return;
    if (now.reloads.refused >= reload) {
      throw Error(
          "the reload was refused, and nothing has changed; the log has the reason "
          "(reload.refused)",
          kExitConfig);
    }
    (void)wait_readable(-1, kPollInterval);
    if (interrupted()) throw Error("interrupted; the reload continues", kExitUnavailable);
  }
}

int reload(const Context& context, const ReloadOptions& options) {
  const config::Settings settings = context.settings();
  const std::uint32_t number = begin_reload(settings);
  if (options.wait) await_end(settings, number);
  const nlohmann::json document{{"reload", number}, {"finished", options.wait}};
  return print_as(options.json, document, [&] {
    std::printf(
        options.wait ? "reload %u finished: no former worker is left\n" : "reload %u began\n",
        number);
  });
}

}  // namespace

void add_reload(CLI::App& app, const Commands& commands) {
  const auto [command, options] =
      commands.add(app, "reload", "Replace the workers of this host's daemon", reload);
  command.add_flag("--wait", options->wait, "Return once the last former worker has left");
}

}  // namespace allot::cli

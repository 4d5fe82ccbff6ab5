// SPDX-License-Identifier: Apache-2.0
// allot metrics: what the gateway answers at /metrics, for a host that has none.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/words/terminal.h"
#include "metrics/page.h"
#include "metrics/slots.h"
#include "metrics/snapshot.h"

namespace allot::cli {
namespace {

struct MetricsOptions {};

int print_metrics(const Context& context, const MetricsOptions& /*options*/) {
  const config::Settings settings = context.settings();
  metrics::Page page;
  metrics::add_slots(page, config::runtime_dir(settings));
  ExitCode code = kExitOk;
  // What the slots say is wanted most when the database is away.
  const auto failed = [&code](const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    code = known != nullptr ? known->exit_code() : kExitSoftware;
    std::fprintf(stderr, "%s the queues cannot be shown: %s\n", error_head().c_str(), error.what());
  };
  metrics::Snapshot snapshot;
  try {
    db::Connection db = connect(settings);
    snapshot = metrics::take_snapshot(&db, failed);
  } catch (const Error& error) {
    failed(error);
  }
  metrics::add_snapshot(page, snapshot, snapshot.at_ns);
  std::fputs(metrics::text_of(page).c_str(), stdout);
  return code;
}

}  // namespace

void add_metrics(CLI::App& app, const Commands& commands) {
  CLI::App& metrics = *app.add_subcommand(
      "metrics", "Print what Prometheus reads, for node_exporter's textfile collector");
  const auto options = std::make_shared<MetricsOptions>();
  metrics.callback([commands, options] { commands.choose(print_metrics, options); });
}

}  // namespace allot::cli

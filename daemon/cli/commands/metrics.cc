// SPDX-License-Identifier: Apache-2.0
// allot metrics: what the gateway answers at /metrics, for a host that has none.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands/command.h"
#include "metrics/page.h"
#include "metrics/slots.h"

namespace allot::cli {
namespace {

struct MetricsOptions {};

int print_metrics(const Context& context, const MetricsOptions& /*options*/) {
  const config::Settings settings = context.settings();
  metrics::Page page;
  metrics::add_slots(page, config::runtime_dir(settings));
  std::fputs(metrics::text_of(page).c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_metrics(CLI::App& app, const Commands& commands) {
  CLI::App& metrics = *app.add_subcommand(
      "metrics", "Print what Prometheus reads, for node_exporter's textfile collector");
  const auto options = std::make_shared<MetricsOptions>();
  metrics.callback([commands, options] { commands.choose(print_metrics, options); });
}

}  // namespace allot::cli

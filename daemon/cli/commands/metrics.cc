// SPDX-License-Identifier: Apache-2.0
// allot metrics: prints the metrics of /metrics, for a host without a gateway.
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/words/terminal.h"
#include "cli/words/text.h"
#include "metrics/page.h"
#include "metrics/slots.h"
#include "metrics/snapshot.h"

namespace allot::cli {
namespace {

using nlohmann::json;

json value_of(const prometheus::ClientMetric& series, prometheus::MetricType type) {
  if (type == prometheus::MetricType::Counter) return series.counter.value;
  if (type == prometheus::MetricType::Gauge) return series.gauge.value;
  json buckets = json::array();
  for (const auto& bucket : series.histogram.bucket) {
    buckets.push_back({{"up_to", bucket.upper_bound}, {"count", bucket.cumulative_count}});
  }
  return {{"count", series.histogram.sample_count},
          {"sum", series.histogram.sample_sum},
          {"buckets", std::move(buckets)}};
}

json document_of(const metrics::Page& page) {
  json list = json::array();
  for (const prometheus::MetricFamily& family : page.families()) {
    json all = json::array();
    for (const prometheus::ClientMetric& series : family.metric) {
      json labels = json::object();
      for (const auto& label : series.label) labels[label.name] = label.value;
      all.push_back({{"labels", std::move(labels)}, {"value", value_of(series, family.type)}});
    }
    list.push_back({{"name", family.name}, {"help", family.help}, {"series", std::move(all)}});
  }
  return list;
}

int print_metrics(const Context& context, const JsonOption& options) {
  const config::Settings settings = context.settings();
  metrics::Page page;
  metrics::add_slots(page, config::runtime_dir(settings), settings.metrics.types);
  ExitCode code = kExitOk;
  // The values from the slot table matter most when the database is unavailable.
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
  print_as(options.json, document_of(page),
           [&] { std::fputs(metrics::text_of(page).c_str(), stdout); });
  return code;
}

}  // namespace

void add_metrics(CLI::App& app, const Commands& commands) {
  commands.add(app, "metrics",
               "Print metrics for Prometheus, for the textfile collector of node_exporter",
               print_metrics);
}

}  // namespace allot::cli

// SPDX-License-Identifier: Apache-2.0
#include "db/migrate.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/words/text.h"
#include "db/from_settings.h"
#include "db/procedures.h"
#include "queue/model/catalog.h"
#include "queue/server/rehearsal.h"

namespace allot::cli {
namespace {

struct MadeQueue {
  queue::QueueInfo info;
  queue::QueueShape configured;  // the database decides (S17)
};

void print_text(const std::vector<std::string>& applied, const std::string& why_procedures,
                std::uint32_t version, const std::vector<MadeQueue>& queues) {
  for (const std::string& name : applied) std::printf("applied %s\n", name.c_str());
  if (applied.empty()) std::printf("the schema is up to date (version %u)\n", version);
  if (!why_procedures.empty()) {
    std::printf("created the stored procedures, because %s\n", why_procedures.c_str());
  }
  for (const auto& [info, configured] : queues) {
    std::printf("queue %s: %s", info.name.c_str(), queue::text_of(info.shape).c_str());
    if (info.shape != configured) {
      std::printf(" (the configuration says %s; the database decides)",
                  queue::text_of(configured).c_str());
    }
    std::printf("\n");
  }
}

nlohmann::ordered_json report_of(const std::vector<std::string>& applied,
                                 const std::string& why_procedures, std::uint32_t version,
                                 const std::vector<MadeQueue>& queues) {
  nlohmann::ordered_json report = {{"applied", applied}, {"procedures_created", nullptr}};
  if (!why_procedures.empty()) report["procedures_created"] = why_procedures;
  report["schema_version"] = version;
  report["queues"] = nlohmann::ordered_json::array();
  for (const auto& [info, configured] : queues) {
    report["queues"].push_back({{"name", info.name},
                                {"partitions", info.partitions()},
                                {"partitions_configured", configured.partitions},
                                {"placement", queue::name_of(info.shape.placement)},
                                {"max_running", info.shape.max_running}});
  }
  return report;
}

// allot migrate brings the schema up to date and creates the configured queues.
int migrate(const Context& context, const JsonOption& options) {
  const config::Settings settings = context.settings();
  db::Connection db = connect_any(settings);
  const std::string why_procedures = db::why_make_procedures(db);
  const auto applied = db::migrate(db);
  queue::rehearse(db, db::from_settings(settings));
  std::vector<MadeQueue> queues;
  for (const config::Queue& queue : settings.queues) {
    queues.push_back(
        {queue::ensure_queue(db, queue.name, queue::shape_of(queue)), queue::shape_of(queue)});
  }
  queue::fill_holes(db);  // also for queues that are not in this configuration
  const std::uint32_t version = db::schema_version(db);
  return print_as(options.json, report_of(applied, why_procedures, version, queues),
                  [&] { print_text(applied, why_procedures, version, queues); });
}

}  // namespace

void add_migrate(CLI::App& app, const Commands& commands) {
  commands.add(app, "migrate", "Bring the schema up to date, and create the queues", migrate);
}

}  // namespace allot::cli

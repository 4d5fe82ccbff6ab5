// SPDX-License-Identifier: Apache-2.0
#include "worker/check.h"

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/posix.h"
#include "db/from_settings.h"
#include "db/migrate.h"
#include "ipc/inherited.h"
#include "ipc/preflight.h"
#include "ipc/slot.h"
#include "log/log.h"
#include "plugin_host/registry.h"
#include "queue/account.h"
#include "queue/catalog.h"
#include "queue/lease_store.h"

namespace allot::worker {
namespace {

template <std::size_t N>
void put(char (&to)[N], const std::string& from, const char* what) {
  if (from.size() >= N) {
    throw Error(
        std::string(what) + " '" + from + "' is longer than " + std::to_string(N - 1) + " bytes",
        kExitConfig);
  }
  std::memcpy(to, from.c_str(), from.size() + 1);
}

ipc::PreflightAnswer answer_of(const config::Settings& settings) {
  ipc::PreflightAnswer answer{};
  answer.magic = ipc::kPreflightMagic;
  answer.version = ipc::kPreflightVersion;
  for (const config::Pool& pool : settings.pools) {
    ipc::PreflightPool& entry = answer.pools[answer.pool_count++];
    put(entry.name, pool.name, "pool name");
    entry.size = pool.size;
  }
  answer.frozen_ms = static_cast<std::uint32_t>(config::frozen_limit(settings.daemon).count());
  answer.stop_ms = static_cast<std::uint32_t>(settings.daemon.stop_timeout.count());
  answer.log_format = log::parse_format(settings.logging.format, settings.logging.file);
  put(answer.instance, settings.daemon.instance, "instance");
  put(answer.runtime_dir, config::runtime_dir(settings), "runtime_dir");
  put(answer.embedded_dir, settings.database.embedded, "embedded");
  put(answer.log_file, settings.logging.file, "log file");
  return answer;
}

void require_good_plugins(const config::Settings& settings, Findings& findings) {
  std::string problems;
  std::size_t types = 0;
  for (const auto& file : plugin_host::describe(settings.plugins.folder)) {
    types += file.types.size();
    if (!file.refused) continue;
    problems += (problems.empty() ? "" : "\n") + plugin_host::refusal_line(file);
  }
  if (!problems.empty()) throw Error(problems, kExitConfig);
  if (types == 0) {
    findings.warnings.push_back(
        {"plugins.none",
         "there is no plugin in " + settings.plugins.folder + ": no task will find a handler"});
  }
}

// Two for each worker, block loop and lease keeper; during a reload twice as many workers, because
// old ones finish their tasks; a settler for each worker; some for checks and commands.
std::uint64_t connections_needed(const config::Settings& settings) {
  constexpr std::uint64_t kOfAWorker = 2 * 2 + 1;
  constexpr std::uint64_t kChecksAndCommands = 5;
  std::uint64_t workers = 0;
  for (const config::Pool& pool : settings.pools) workers += pool.size;
  return kOfAWorker * workers + kChecksAndCommands;
}

void count_connections(const config::Settings& settings, db::Connection& db, Findings& findings) {
  findings.connections_needed = connections_needed(settings);
  findings.connections_allowed = queue::connections_allowed(db);
  if (findings.connections_allowed >= findings.connections_needed) return;
  findings.warnings.push_back(
      {"database.few_connections",
       "this daemon may need " + std::to_string(findings.connections_needed) +
           " connections and the server allows " + std::to_string(findings.connections_allowed) +
           ": raise its max_connections, or the account's MAX_USER_CONNECTIONS"});
}

}  // namespace

void check_config(const config::Settings& settings, Findings& findings) {
  require_good_plugins(settings, findings);
  const ipc::PreflightAnswer answer = answer_of(settings);
  if (!ipc::inherited(ipc::kAnswerFd)) return;
  if (!write_all(ipc::kAnswerFd, &answer, sizeof answer)) {
    throw Error("the supervisor does not take the answer", kExitSoftware);
  }
}

void check_database(const config::Settings& settings, bool reclaim, Findings& findings) {
  db::Connection db(db::from_settings(settings.database));
  findings.server = db.where();
  for (const std::string& why : db.passed_over()) {
    findings.warnings.push_back({"database.passed_over", why});
  }
  db::require_schema(db);
  queue::require_rights(db);
  count_connections(settings, db, findings);
  for (const config::Queue& queue : settings.queues) {
    queue::ensure_queue(db, queue.name, queue.partitions);
  }
  if (!reclaim) return;
  const queue::LeaseStore leases(
      queue::make_holder(settings.daemon.instance, config::runtime_dir(settings)),
      settings.daemon.lease_ttl);
  if (const auto freed = leases.reclaim(db); freed > 0) {
    log::warn("lease.reclaimed", {{"leases", freed}, {"instance", settings.daemon.instance}});
  }
}

bool print_plugins(const config::Settings& settings, bool json) {
  bool good = true;
  auto list = nlohmann::json::array();
  for (const auto& file : plugin_host::describe(settings.plugins.folder)) {
    nlohmann::json entry = {{"file", file.path},       {"name", file.name},
                            {"version", file.version}, {"abi", file.abi_version},
                            {"types", file.types},     {"refused", nullptr}};
    if (file.refused) {
      good = false;
      entry["refused"] = {{"reason", plugin_host::name_of(file.refused->refusal)},
                          {"text", file.refused->text}};
      if (!json) std::printf("%s\n", plugin_host::refusal_line(file).c_str());
    } else if (!json) {
      std::string types;
      for (const std::string& type : file.types) types += " " + type;
      std::printf("%s: %s %s (ABI %u):%s\n", file.path.c_str(), file.name.c_str(),
                  file.version.c_str(), file.abi_version, types.c_str());
    }
    list.push_back(std::move(entry));
  }
  if (json) std::printf("%s\n", list.dump(2).c_str());
  if (!json && list.empty()) std::printf("no plugins in %s\n", settings.plugins.folder.c_str());
  return good;
}

}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
// Rule: S72.
#include "worker/oneshot/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/posix.h"
#include "config/schedules.h"
#include "config/served.h"
#include "db/from_settings.h"
#include "db/migrate.h"
#include "db/procedures.h"
#include "ipc/preflight.h"
#include "ipc/slot.h"
#include "log/log.h"
#include "peer/handler_types.h"
#include "peer/inherited.h"
#include "peer/lock_mark.h"
#include "plugin_host/registry.h"
#include "process/cgroup.h"
#include "process/cgroup_limits.h"
#include "process/own.h"
#include "queue/model/catalog.h"
#include "queue/schedules/configured.h"
#include "queue/server/rehearsal.h"
#include "queue/server/variables.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/lease_store.h"
#include "trust/trust.h"
#include "worker/oneshot/plugin_report.h"
#include "worker/oneshot/unit_reach.h"
#include "worker/settle/recovery.h"

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

// A pool's old workers finish their tasks in their own slots while the new ones start (S23); each
// side has one steward as well.
static_assert(ipc::kMaxSlots >= 2 * (config::kMaxWorkers + 1));

ipc::PreflightAnswer answer_of(const config::Settings& settings) {
  ipc::PreflightAnswer answer{};
  const auto add = [&answer](const std::string& name, std::uint32_t size) {
    ipc::PreflightPool& entry = answer.pools[answer.pool_count++];
    put(entry.name, name, "pool name");
    entry.size = size;
  };
  for (const config::Pool& pool : settings.pools) add(pool.name, pool.size);
  add(config::kStewardPool, 1);
  answer.frozen_ms = static_cast<std::uint32_t>(config::frozen_limit(settings.daemon).count());
  answer.stop_ms = static_cast<std::uint32_t>(settings.daemon.stop_timeout.count());
  answer.gateway = settings.gateway ? 1 : 0;
  answer.log_format = log::parse_format(settings.logging.format, settings.logging.file);
  put(answer.instance, settings.daemon.instance, "instance");
  put(answer.runtime_dir, config::runtime_dir(settings), "runtime_dir");
  put(answer.embedded_dir, settings.database.embedded, "embedded");
  put(answer.log_file, settings.logging.file, "log file");
  return answer;
}

void require_cgroup(const config::Settings& settings, Findings& findings) {
  const std::string own = process::own_cgroup();
  const bool of_daemon = peer::inherited(ipc::kAnswerFd);
  try {
    process::require_controllers(process::cgroup_base(own), process::needed_controllers(settings));
    process::try_cgroup(own);
    if (of_daemon) process::share_out(process::cgroup_base(own), settings, ::getppid());
  } catch (const Error& error) {
    if (of_daemon) throw;
    // The daemon will be started in another cgroup than this person's shell.
    findings.warnings.push_back({"cgroup.not_here", error.what()});
  }
}

// Returns the types that their handlers take.
std::vector<std::string> require_good_plugins(const config::Settings& settings,
                                              Findings& findings) {
  std::string problems;
  std::vector<std::string> types;
  const auto files = describe_plugins(settings);
  for (const auto& file : files) {
    types.insert(types.end(), file.types.begin(), file.types.end());
    if (!file.refused) continue;
    problems += (problems.empty() ? "" : "\n") + plugin_host::refusal_line(file);
  }
  if (!problems.empty()) throw Error(problems, kExitConfig);
  // The daemon's own check runs under its account.
  const auto reach = peer::inherited(ipc::kAnswerFd) ? std::nullopt : UnitReach::find();
  find_unusable_programs(settings, reach, findings);
  for (const std::string& line : unused_sections(settings, files)) {
    findings.warnings.push_back({"config.warning", line});
  }
  if (types.empty()) {
    findings.warnings.push_back(
        {"plugins.none", "no plugin in " + settings.plugins.folder + ", so no task has a handler"});
  }
  return types;
}

// Only a check needs the zones: a restarted worker must not depend on them.
void require_good_schedules(const config::Settings& settings) {
  config::Problems problems;
  config::check_zones(settings, problems);
  queue::check_specs(settings, problems);
  if (!problems.empty()) config::refuse(settings.file, std::move(problems));
}

// Each worker needs two connections, for block loop and lease keeper, and one for each concurrent
// task; during a reload there are twice as many workers, because old ones finish their tasks; each
// worker may need a settler, and checks and commands need some. The steward has two.
std::uint64_t connections_needed(const config::Settings& settings) {
  constexpr std::uint64_t kChecksAndCommands = 5;
  constexpr std::uint64_t kStewards = 4;
  std::uint64_t needed = kChecksAndCommands + kStewards;
  for (const config::Pool& pool : settings.pools) {
    const std::uint64_t runners = pool.concurrency > 1 ? pool.concurrency : 0;
    needed += pool.size * (2 * (2 + runners) + 1);
  }
  return needed;
}

// Programs that search for this daemon find nothing in a folder that was made again. A check
// before the start inherits no lock.
void look_for_the_lock(const std::string& folder, Findings& findings) {
  struct stat lock {};
  const bool gone =
      peer::inherited(ipc::kLockFd) && fstat(ipc::kLockFd, &lock) == 0 && lock.st_nlink == 0;
  if (!gone) return;
  findings.warnings.push_back(
      {"instance.folder_gone",
       "the files of this daemon in " + folder +
           " were deleted: it keeps working, but allot status, top and why cannot see it, and a "
           "submitted task waits up to a second; restart the daemon"});
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

// Daemons work without them, but not applications that submit by SQL.
void look_for_procedures(db::Connection& db, Findings& findings) {
  const auto trouble = db::trouble_with_procedures(db);
  if (!trouble) return;
  const std::string fix = trouble->fix.empty() ? "" : "; " + trouble->fix;
  findings.warnings.push_back({"procedures.unusable", "stored procedures: " + trouble->text + fix});
}

std::string trouble_of(const config::Settings& settings, const std::string& queue,
                       const std::optional<queue::QueueInfo>& there) {
  if (there) {
    return "queue '" + queue + "', which is " + queue::text_of(there->shape) + ", not spread";
  }
  std::vector<std::string_view> known;
  for (const config::Queue& one : settings.queues) known.emplace_back(one.name);
  const std::string_view near = nearest(queue, known);
  return "queue '" + queue + "', which does not exist" +
         (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
}

// Hooks whose queue does not exist, or places its tasks by a key. They do not stop a start, because
// the target may exist tomorrow. Call it after the queues of the configuration were created.
void find_lost_hooks(const config::Settings& settings, db::Connection& db, Findings& findings) {
  for (const config::Queue& queue : settings.queues) {
    for (const auto& [key, word] :
         {std::pair{"on_dead", &queue.on_dead}, std::pair{"on_stuck", &queue.on_stuck}}) {
      const auto target = config::hook_target(*word);
      if (!target) continue;
      const auto there = queue::find_queue(db, target->queue);
      if (there && there->shape.placement == queue::Placement::kSpread) continue;
      findings.warnings.push_back(
          {"hook.unusable", place_of(settings, "queues." + queue.name + "." + key) + ": [queues." +
                                queue.name + "] " + key + " names " +
                                trouble_of(settings, target->queue, there)});
    }
  }
}

}  // namespace

void answer_refusal(const std::string& message, LogFormat format) {
  ipc::PreflightAnswer answer{};
  answer.log_format = format;
  const std::size_t first = message.find('\n');
  const auto more = std::count(message.begin(), message.end(), '\n');
  const std::string rest = more == 0 ? "" : " (and " + std::to_string(more) + " more, see above)";
  const std::size_t room = sizeof answer.problem - 1 - rest.size();
  const std::string text = message.substr(0, std::min(first, room)) + rest;
  std::memcpy(answer.problem, text.c_str(), text.size() + 1);
  // If this fails, the supervisor refers to the lines above.
  static_cast<void>(write_all(ipc::kAnswerFd, &answer, sizeof answer));
}

void check_config(const config::Settings& settings, Findings& findings) {
  if (settings.daemon.cgroup) require_cgroup(settings, findings);
  require_good_schedules(settings);
  const std::vector<std::string> types = require_good_plugins(settings, findings);
  const ipc::PreflightAnswer answer = answer_of(settings);
  if (!peer::inherited(ipc::kAnswerFd)) return;
  // The runtime folder may be inside the database's folder, which is closed to others from the
  // start.
  const std::string& database = settings.database.embedded;
  if (!database.empty()) {
    trust::make_folder(database, trust::Role::kPrivateFolder, "[database] embedded");
  }
  const std::string folder = config::runtime_dir(settings);
  trust::make_folder(folder, trust::Role::kOwnFolder, "[daemon] runtime_dir");
  look_for_the_lock(folder, findings);
  // Without it submitters get no warning about types without a handler.
  static_cast<void>(peer::write_types(folder, types));
  if (config::Files::is_copy(ipc::kConfigFd, false)) settings.files.keep(ipc::kConfigFd);
  if (!write_all(ipc::kAnswerFd, &answer, sizeof answer)) {
    throw Error("the supervisor does not accept the answer", kExitSoftware);
  }
}

void check_database(const config::Settings& settings, bool reclaim, Findings& findings) {
  const db::ConnectOptions options = db::from_settings(settings);
  db::Connection db(options);
  findings.server = db.where();
  for (const std::string& why : db.passed_over()) {
    findings.warnings.push_back({"database.skipped", why});
  }
  db::require_schema(db);
  queue::require_rights(db);
  queue::rehearse(db, options);
  if (const auto warning = queue::untested(queue::server_variables(db)["version"])) {
    findings.warnings.push_back({"database.untested", *warning});
  }
  if (settings.database.required == "replicated") queue::require_replicated(db);
  count_connections(settings, db, findings);
  look_for_procedures(db, findings);
  for (const config::Queue& queue : settings.queues) {
    queue::ensure_queue(db, queue.name, queue::shape_of(queue));
  }
  find_lost_hooks(settings, db, findings);
  // Only a process that holds the lock knows that the previous run is over.
  if (!reclaim || !peer::inherited(ipc::kLockFd)) return;
  if (peer::draw_lock_mark(ipc::kLockFd) == 0) {
    throw Error(std::string("the lock cannot be written: ") + std::strerror(errno),
                kExitCannotCreate);
  }
  const queue::LeaseStore leases(process::own_holder(settings), settings.daemon.lease_ttl);
  if (const auto freed = leases.reclaim(db); freed > 0) {
    log::warn("lease.reclaimed", {{"leases", freed}, {"instance", settings.daemon.instance}});
  }
  reclaim_detached(db, settings, queue::DetachedStore(leases.holder(), leases.ttl()));
}

}  // namespace allot::worker

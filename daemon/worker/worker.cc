// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fixed_text.h"
#include "base/version.h"
#include "db/from_settings.h"
#include "log/log.h"
#include "meter/meter.h"
#include "meter/record.h"
#include "peer/inherited.h"
#include "peer/poll_page.h"
#include "peer/steward_board.h"
#include "process/lifetime.h"
#include "process/own.h"
#include "process/pulse.h"
#include "process/session.h"
#include "process/stop_request.h"
#include "worker/block/lease_run.h"
#include "worker/job/executor.h"
#include "worker/lease/served_queues.h"

namespace allot::worker {
namespace {

using std::chrono::milliseconds;

int if_inherited(int fd) {
  return peer::inherited(fd) ? fd : -1;
}

// All workers of an instance have the slots, whatever happened to the runtime folder: a file in
// that folder would stop every worker that starts after its deletion. A lock belongs to one opening
// of a file, so each worker opens it once more. A worker that was started by hand has no
// neighbours.
std::string careful_file() {
  if (!peer::inherited(ipc::kSlotFd)) return {};
  return "/proc/self/fd/" + std::to_string(ipc::kSlotFd);
}

// The queues of this pool, as the database knows them; creates missing ones.
std::vector<ServedQueue> serve(process::Session& session, const config::Settings& settings,
                               const config::Pool& pool) {
  std::vector<ServedQueue> served;
  for (const std::string& name : pool.queues) {
    const config::Queue* queue = config::find_queue(settings, name);
    auto info = session.call(
        [&](db::Connection& db) { return queue::ensure_queue(db, name, queue::shape_of(*queue)); });
    if (info.shape != queue::shape_of(*queue)) {
      log::warn("queue.mismatch", {{"queue", name},
                                   {"configured", queue::text_of(queue::shape_of(*queue))},
                                   {"actual", queue::text_of(info.shape)},
                                   {"reason", "the database decides once a queue exists"}});
    }
    served.push_back({std::move(info), queue});
  }
  return served;
}

// Each queue has the settings of the section of that name, if there is one.
ServedQueues::Queues serve_made(process::Session& session, const config::Settings& settings) {
  struct Served {
    config::Queue settings;
    ServedQueue queue;
  };
  ServedQueues::Queues queues;
  for (queue::QueueInfo& one :
       session.call([](db::Connection& db) { return queue::made_queues(db); })) {
    const auto served = std::make_shared<Served>();
    const config::Queue* named = config::find_queue(settings, one.name);
    if (named != nullptr) served->settings = *named;
    served->settings.name = one.name;
    served->queue = {std::move(one), &served->settings};
    queues.emplace_back(served, &served->queue);
  }
  return queues;
}

// `served`: the queues in the configuration.
ServedQueues queues_of(const config::Pool& pool, const std::vector<ServedQueue>& served,
                       process::Session& session, const config::Settings& settings) {
  if (!config::serves_made_queues(pool)) return ServedQueues(served);
  return ServedQueues([&session, &settings] { return serve_made(session, settings); });
}

std::vector<queue::QueueInfo> infos_of(const std::vector<ServedQueue>& served) {
  std::vector<queue::QueueInfo> infos;
  for (const ServedQueue& queue : served) infos.push_back(queue.info);
  return infos;
}

// The steward's pool has no section in the configuration: its process is not limited.
const config::Pool& steward_pool() {
  static const config::Pool kPool = [] {
    config::Pool pool;
    pool.name = config::kStewardPool;
    pool.size = 1;
    return pool;
  }();
  return kPool;
}

[[noreturn]] void refuse_limit(const config::Pool& pool, const std::string& key) {
  throw Error("[pools." + pool.name + "] " + key + " cannot be set: " + std::strerror(errno),
              kExitConfig);
}

void be_nice(const config::Pool& pool) {
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) refuse_limit(pool, "nice");
  // On Linux this applies to the calling thread only.
  if (::setpriority(PRIO_PROCESS, 0, now + static_cast<int>(pool.nice)) != 0)
    refuse_limit(pool, "nice");
}

// Not RLIMIT_AS: libraries reserve addresses that they never use.
void limit_memory(const config::Pool& pool) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) refuse_limit(pool, "memory_limit");
  const rlim_t wanted = rlim_t{pool.memory_limit} << 20U;
  limit.rlim_max = std::min(limit.rlim_max, wanted);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) refuse_limit(pool, "memory_limit");
}

// Niceness applies to this thread and to all threads and processes that it starts afterwards, and
// memory to this process and each that it starts afterwards (D9). The worker limits itself before
// it loads a plugin; handlers cannot undo it. Throws Error(kExitConfig) if the system refuses.
void limit_to(const config::Pool& pool) {
  if (pool.nice > 0) be_nice(pool);
  if (pool.memory_limit > 0) limit_memory(pool);
}

// Makes the slot count in the meter, and by the budget of a drain.
std::unique_ptr<meter::Meter> metered(process::SlotWriter& slot, const config::Settings& settings) {
  auto meter = process::own_meter(settings, slot.raw().index);
  slot.use(meter.get());
  slot.count(meter::Event::kStarts);
  if (!settings.drain_budget.empty()) slot.use(peer::map_drain_budget(settings.drain_budget));
  return meter;
}

void log_ready(const ipc::Slot& slot, const config::Pool& pool,
               const plugin_host::Registry& registry) {
  log::info("worker.ready", {{"slot", slot.index},
                             {"pool", pool.name},
                             {"version", kVersion},
                             {"handlers", registry.size()}});
}

void log_leaving(const ipc::Slot& slot, const process::Lifetime& lifetime) {
  log::info("worker.stopped",
            {{"done", slot.tasks_done.load()},
             {"reason", lifetime.over() != nullptr ? lifetime.over() : "requested"},
             {"memory_mib", process::resident_mib()}});
}

}  // namespace

const config::Pool& pool_of(const config::Settings& settings, const ipc::Slot& slot) {
  const std::string name = allot::text_of(slot.pool_name);
  const auto found = std::find_if(settings.pools.begin(), settings.pools.end(),
                                  [&](const config::Pool& pool) { return pool.name == name; });
  if (found != settings.pools.end()) return *found;
  if (name.empty()) return settings.pools.front();
  if (name == config::kStewardPool) return steward_pool();
  throw Error("unknown pool [pools." + name + "] in the configuration", kExitConfig);
}

int run_worker(const config::Settings& settings, ipc::Slot& raw_slot, ipc::Board& board) {
  const config::Pool& pool = pool_of(settings, raw_slot);
  const queue::LeaseStore leases(process::own_holder(settings), settings.daemon.lease_ttl);
  const queue::DetachedStore detached(leases.holder(), leases.ttl());
  process::SlotWriter slot(raw_slot, if_inherited(ipc::kNotifyFd));
  slot.start(leases.holder());
  raw_slot.config_mark = settings.files.mark();
  raw_slot.config_place = settings.files.place();
  const auto meter = metered(slot, settings);
  process::install_stop_signals(board.pools[raw_slot.pool].bell);
  const process::Pulse pulse(slot, if_inherited(ipc::kDeathFd), settings.daemon);

  // The pulse thread runs like the supervisor: a worker that lacks CPU time is not frozen.
  limit_to(pool);
  process::Lifetime lifetime(pool, leases.holder().id);
  slot.set_state(ipc::WorkerState::kConnecting);
  const auto registry =
      plugin_host::Registry::load(settings.plugins.folder, settings.plugins.sections);
  db::ConnectOptions connect = db::from_settings(settings);
  connect.lock_wait = process::lock_wait(leases.ttl());
  try {
    peer::PollReader poll(peer::poll_page_in(config::runtime_dir(settings)));
    const milliseconds patience = settings.daemon.stop_timeout / 2;
    process::Session session(connect, slot, patience);
    session.use(poll);
    process::require_fit(session, connect);
    LeaseKeeper keeper(leases, detached, connect, slot, board);
    const auto served = serve(session, settings, pool);
    Recovery recovery(session, detached, settings, infos_of(served), slot, board);
    Weights weights(pool, served, leases.holder().id);
    Finder finder(
        session, leases, keeper, slot, board, raw_slot.pool,
        queues_of(pool, served, session, settings),
        [&](std::string_view type) { return registry.find(type) != nullptr; }, std::move(weights));
    std::deque<process::Session> sessions;  // of the threads
    std::deque<JobRunner> runners;
    const std::size_t threads = std::clamp<std::size_t>(pool.concurrency, 1, ipc::kMaxRunning);
    for (std::size_t i = 0; i < threads; ++i) {
      auto& own = threads == 1 ? session : sessions.emplace_back(connect, slot, patience, 2 + i);
      runners.emplace_back(own, detached, registry, keeper, slot, settings,
                           SlotRange::of(i, threads));
    }
    Executor executor(slot, runners);
    CarefulTurn careful_turn(careful_file());
    const auto note_unknown = [&board](const queue::TaskId& id, const std::string& type) {
      peer::note_unknown(
          board, {id.partition.queue_id, id.partition.partition_no, id.prio, id.first_key}, type);
    };
    log_ready(raw_slot, pool, registry);
    slot.set_state(ipc::WorkerState::kIdle);
    run_leases({session, finder, keeper, slot, executor, registry, careful_turn, recovery, lifetime,
                note_unknown});
  } catch (const process::GaveUp& gave_up) {
    log::error("worker.gave_up", {{"reason", gave_up.what()}});
    return kExitUnavailable;
  }
  log_leaving(raw_slot, lifetime);
  return kExitOk;
}

}  // namespace allot::worker

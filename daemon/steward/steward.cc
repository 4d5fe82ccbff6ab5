// SPDX-License-Identifier: Apache-2.0
#include "steward/steward.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/exit_codes.h"
#include "base/version.h"
#include "config/served.h"
#include "db/from_settings.h"
#include "log/log.h"
#include "meter/record_file.h"
#include "peer/inherited.h"
#include "peer/poll_page.h"
#include "process/own.h"
#include "process/pulse.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "process/stop_request.h"
#include "steward/chores.h"
#include "steward/commit_reader.h"
#include "steward/host_poll.h"
#include "steward/loop.h"

namespace allot::steward {
namespace {

// This program, even if a newer one has replaced it on the disk.
const std::vector<std::string> kCalendar = {"/proc/self/exe", "--calendar"};

int if_inherited(int fd) {
  return peer::inherited(fd) ? fd : -1;
}

// Run of the slots that the supervisor shares; nullopt: this process has no supervisor.
std::optional<meter::SupervisorRun> own_run() {
  if (!peer::inherited(ipc::kSlotFd)) return std::nullopt;
  return meter::run_of(ipc::kSlotFd);
}

// The daemon is ready when a worker is; without workers, when its steward is.
bool has_workers(const config::Settings& settings) {
  return std::any_of(settings.pools.begin(), settings.pools.end(),
                     [](const config::Pool& pool) { return pool.size > 0; });
}

// Logs one line for each hook of these queues that would do nothing. Creates the queues of this
// configuration.
void check_hooks(process::Session& session, const config::Settings& settings,
                 const std::vector<Served>& served) {
  for (const Served& queue : served) {
    for (const std::string* hook : {&queue.keys->on_dead, &queue.keys->on_stuck}) {
      const auto target = config::hook_target(*hook);
      if (!target) continue;
      const config::Queue* described = config::find_queue(settings, target->queue);
      const auto there = session.call([&](db::Connection& db) -> std::optional<queue::QueueInfo> {
        if (described == nullptr) return queue::find_queue(db, target->queue);
        return queue::ensure_queue(db, target->queue, queue::shape_of(*described));
      });
      if (there && there->shape.placement == queue::Placement::kSpread) continue;
      log::error("hook.unusable",
                 {{"queue", queue.info.name},
                  {"hook", *hook},
                  {"reason", there ? "queue " + target->queue + " is " +
                                         queue::text_of(there->shape) + ", not spread"
                                   : "unknown queue " + target->queue}});
    }
  }
}

HostPoll::Queues looked_at(const config::Settings& settings, const std::vector<Served>& served) {
  HostPoll::Queues queues;
  for (const Served& queue : served) {
    if (queue.by_this_host) queues.ids.push_back(queue.info.queue_id);
  }
  queues.made =
      std::any_of(settings.pools.begin(), settings.pools.end(), config::serves_made_queues);
  return queues;
}

std::vector<queue::ServingPool> pools_of(const config::Settings& settings) {
  std::vector<queue::ServingPool> pools;
  for (const config::Pool& pool : settings.pools) {
    const auto queues = pool.fireworq ? std::vector<std::string>{"*"} : pool.queues;
    pools.push_back({pool.name, static_cast<unsigned>(pool.size), queues});
  }
  return pools;
}

void work(const config::Settings& settings, const queue::Holder& holder, process::SlotWriter& slot,
          ipc::Board& board) {
  db::ConnectOptions connect = db::from_settings(settings);
  connect.lock_wait = process::lock_wait(settings.daemon.lease_ttl);
  const std::string runtime_dir = config::runtime_dir(settings);
  const std::string page = peer::poll_page_in(runtime_dir);
  peer::PollReader poll_reader(page);
  process::Session session(connect, slot, settings.daemon.stop_timeout / 2);
  session.use(poll_reader);
  process::require_fit(session, connect);
  const auto served = served_by(session, settings);
  const HostPoll host_poll(connect, slot, board, settings.daemon.lease_ttl,
                           settings.daemon.stop_timeout / 2, looked_at(settings, served), page);
  check_hooks(session, settings, served);
  apply_schedules(session, settings, kCalendar);
  Leadership leadership(session, holder);
  UnknownTasks unknown(board);
  OtherServers servers(connect);
  std::optional<CommitReader> reader;
  const auto run = own_run();

  Loop loop(leadership, slot);
  loop.add(ticks(session, board, kCalendar));
  loop.add(layouts(session, leadership, served));
  loop.add(lease_rows(session));
  loop.add(retention(session, served));
  loop.add(stuck_reports(session, board, unknown, served));
  loop.add(notices({session, board, settings, served, unknown, servers}));
  loop.add(locks(session, runtime_dir));
  loop.add(bulk_actions(session, board, leadership));
  loop.add(minutes(session, holder, runtime_dir, run, pools_of(settings)));
  loop.add(findings(session, settings));
  if (run) {
    const as_json::HostFacts facts{kVersion, settings.files.mark(), pools_of(settings)};
    loop.add(snapshots(session, leadership, holder, runtime_dir, facts));
  }
  if (!settings.wake.user.empty()) {
    const db::ConnectOptions account = db::log_reader_from(settings);
    loop.add(reader.emplace(session, board, account, settings.database.name).chore());
  }

  log::info("steward.ready",
            {{"slot", slot.raw().index}, {"version", kVersion}, {"queues", served.size()}});
  slot.set_state(ipc::WorkerState::kIdle);
  loop.attend(board.steward.bell);
  // A host may run only drains, which are short.
  if (!settings.drain_budget.empty()) loop.finish();
  loop.leave();
}

}  // namespace

std::vector<Served> served_by(process::Session& session, const config::Settings& settings) {
  std::vector<Served> served;
  for (const config::Queue& queue : settings.queues) {
    const bool here = config::is_served(settings, queue.name);
    if (!here && queue.on_stuck.empty()) continue;
    auto info = session.call([&](db::Connection& db) {
      return queue::ensure_queue(db, queue.name, queue::shape_of(queue));
    });
    served.push_back({std::move(info), &queue, here});
  }
  return served;
}

int run(const config::Settings& settings, ipc::Slot& raw_slot, ipc::Board& board) {
  process::SlotWriter slot(raw_slot, if_inherited(ipc::kNotifyFd));
  const queue::Holder holder = process::own_holder(settings);
  slot.start(holder);
  raw_slot.config_mark = settings.files.mark();
  raw_slot.config_place = settings.files.place();
  const auto meter = process::own_meter(settings, raw_slot.index);
  slot.use(meter.get());
  if (has_workers(settings)) slot.run_no_tasks();
  process::install_stop_signals(board.steward.bell);
  const process::Pulse pulse(slot, if_inherited(ipc::kDeathFd), settings.daemon);
  slot.set_state(ipc::WorkerState::kConnecting);
  try {
    work(settings, holder, slot, board);
  } catch (const process::GaveUp& gave_up) {
    log::error("steward.gave_up", {{"reason", gave_up.what()}});
    return kExitUnavailable;
  }
  slot.set_state(ipc::WorkerState::kStopping);
  log::info("steward.stopped", {{"slot", raw_slot.index}});
  return kExitOk;
}

}  // namespace allot::steward

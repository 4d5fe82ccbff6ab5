// SPDX-License-Identifier: Apache-2.0
#include "steward/steward.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/exit_codes.h"
#include "base/version.h"
#include "db/from_settings.h"
#include "log/log.h"
#include "meter/record_file.h"
#include "peer/inherited.h"
#include "peer/look_page.h"
#include "peer/steward_board.h"
#include "steward/apply_schedules.h"
#include "steward/audit_purge.h"
#include "steward/bulk_actions.h"
#include "steward/commit_reader.h"
#include "steward/duties.h"
#include "steward/findings.h"
#include "steward/host_look.h"
#include "steward/job_numbers.h"
#include "steward/layouts.h"
#include "steward/leadership.h"
#include "steward/lease_rows.h"
#include "steward/locks.h"
#include "steward/loop.h"
#include "steward/minutes.h"
#include "steward/notices.h"
#include "steward/other_servers.h"
#include "steward/snapshots.h"
#include "steward/ticks.h"
#include "worker/process/connect.h"
#include "worker/process/own_holder.h"
#include "worker/process/own_meter.h"
#include "worker/process/pulse.h"
#include "worker/process/session.h"
#include "worker/process/slot_writer.h"
#include "worker/process/stop_request.h"

namespace allot::steward {
namespace {

// This program, even if a newer one has replaced it on the disk.
const std::vector<std::string> kCalendar = {"/proc/self/exe", "--calendar"};

int if_inherited(int fd) {
  return peer::inherited(fd) ? fd : -1;
}

// Run of the slots that the supervisor shares; nullopt: this process has no supervisor.
std::optional<meter::Life> own_life() {
  if (!peer::inherited(ipc::kSlotFd)) return std::nullopt;
  return meter::life_of(ipc::kSlotFd);
}

std::vector<std::uint32_t> alone_of(const std::vector<Duties::Served>& served) {
  std::vector<std::uint32_t> ids;
  for (const Duties::Served& queue : served) {
    if (queue.by_this_host && queue.info.alone()) ids.push_back(queue.info.queue_id);
  }
  return ids;
}

// The daemon is ready when a worker is; without workers, when its steward is.
bool has_workers(const config::Settings& settings) {
  return std::any_of(settings.pools.begin(), settings.pools.end(),
                     [](const config::Pool& pool) { return pool.size > 0; });
}

HostLook::Queues looked_at(const config::Settings& settings,
                           const std::vector<Duties::Served>& served) {
  HostLook::Queues queues;
  for (const Duties::Served& queue : served) {
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

void work(const config::Settings& settings, const queue::Holder& holder, worker::SlotWriter& slot,
          ipc::Board& board) {
  db::ConnectOptions connect = db::from_settings(settings);
  connect.lock_wait = worker::lock_wait(settings.daemon.lease_ttl);
  const std::string page = peer::look_page_in(config::runtime_dir(settings));
  peer::LookReader look(page);
  worker::Session session(connect, slot, settings.daemon.stop_timeout / 2);
  session.use(look);
  worker::require_fit(session, connect);
  const auto served = served_by(session, settings);
  const HostLook host_look(connect, slot, board, settings.daemon.lease_ttl,
                           settings.daemon.stop_timeout / 2, looked_at(settings, served), page);
  check_hooks(session, settings, served);
  apply_schedules(session, settings, kCalendar);
  Leadership leadership(session, holder);
  Layouts layouts(session, leadership, alone_of(served));
  LeaseRows lease_rows(session, leadership);
  UnknownTasks unknown(board);
  Duties duties(session, board, leadership, unknown, served);
  OtherServers servers(connect);
  Notices notices({session, board, settings, served, leadership, unknown, servers});
  Locks locks(session, leadership, config::runtime_dir(settings));
  Ticks ticks(session, board, leadership, kCalendar);
  BulkActions bulk(session, board, leadership);
  Minutes minutes(session, leadership, holder, config::runtime_dir(settings), own_life(),
                  pools_of(settings));
  JobNumbers numbers(session, leadership);
  AuditPurge audit(session, leadership);
  Findings findings(session, settings, leadership);
  // The other chores ask the first one.
  std::vector<Chore*> chores{&leadership, &ticks, &layouts, &lease_rows, &duties, &notices,
                             &locks,      &bulk,  &minutes, &numbers,    &audit,  &findings};
  std::optional<Snapshots> snapshots;
  if (own_life()) {
    const as_json::HostFacts facts{kVersion, settings.files.mark(), pools_of(settings)};
    chores.push_back(
        &snapshots.emplace(session, leadership, holder, config::runtime_dir(settings), facts));
  }
  std::optional<CommitReader> reader;
  if (!settings.wake.user.empty()) {
    chores.push_back(
        &reader.emplace(session, board, db::log_reader_from(settings), settings.database.name));
  }

  log::info("steward.ready",
            {{"slot", slot.raw().index}, {"version", kVersion}, {"queues", served.size()}});
  slot.set_state(ipc::WorkerState::kIdle);
  attend(chores, slot, peer::steward_part(board));
  // A host may run only drains, which are short.
  if (!settings.drain_budget.empty()) {
    for (Chore* chore : chores) chore->finish();
  }
  leadership.leave();
  minutes.leave();
  if (snapshots) snapshots->leave();
}

}  // namespace

int run(const config::Settings& settings, ipc::Slot& raw_slot, ipc::Board& board) {
  worker::SlotWriter slot(raw_slot, if_inherited(ipc::kNotifyFd));
  const queue::Holder holder = worker::own_holder(settings);
  slot.start(holder);
  raw_slot.config_mark = settings.files.mark();
  raw_slot.config_place = settings.files.place();
  const auto meter = worker::own_meter(settings, raw_slot.index);
  slot.use(meter.get());
  if (has_workers(settings)) slot.run_no_tasks();
  worker::install_stop_signals(peer::steward_part(board));
  const worker::Pulse pulse(slot, if_inherited(ipc::kDeathFd), settings.daemon);
  slot.set_state(ipc::WorkerState::kConnecting);
  try {
    work(settings, holder, slot, board);
  } catch (const worker::GaveUp& gave_up) {
    log::error("steward.gave_up", {{"reason", gave_up.what()}});
    return kExitUnavailable;
  }
  slot.set_state(ipc::WorkerState::kStopping);
  log::info("steward.stopped", {{"slot", raw_slot.index}});
  return kExitOk;
}

}  // namespace allot::steward

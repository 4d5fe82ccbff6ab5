// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "ipc/board.h"
#include "json/host_json.h"
#include "meter/record.h"
#include "process/session.h"
#include "queue/minutes/minute_store.h"
#include "queue/model/catalog.h"
#include "queue/model/lease.h"
#include "steward/chore.h"
#include "steward/leadership.h"
#include "steward/other_servers.h"
#include "steward/unknown_tasks.h"

// Makes the chores of the steward. Their references outlive the result. Some run on one host for
// all, and every write of these is conditioned on what was seen, so that a second host does no harm
// (S46).
namespace allot::steward {

// A queue of this configuration, with its keys.
struct Served {
  queue::QueueInfo info;
  const config::Queue* keys = nullptr;
  bool by_this_host = true;  // false: no local pool serves it, and only on_stuck applies
};
// Queues of this configuration for its steward: those that a pool of this host serves, and others
// only if they have an on_stuck. Creates missing ones.
[[nodiscard]] std::vector<Served> served_by(process::Session& session,
                                            const config::Settings& settings);

// Creates or changes the schedules whose configuration section differs from the one applied last by
// any host. Later changes by operators stay, nothing is removed, and a section with a lower
// revision changes nothing. A section that cannot be applied is an error in the log, and the others
// continue. `calendar` is a command as of schedule::ComputingProcess. Called at the start of the
// steward.
void apply_schedules(process::Session& session, const config::Settings& settings,
                     const std::vector<std::string>& calendar);

// The ticks of schedules. `command` computes the calendar, see schedule::ComputingProcess.
[[nodiscard]] Chore ticks(process::Session& session, ipc::Board& board,
                          std::vector<std::string> command);

// Adds missing lease rows (S59), and resets release times that a clock in the future wrote (S60):
// every half minute, on the host that leads the schedules.
[[nodiscard]] Chore lease_rows(process::Session& session);

// Ends the resize of an ordered or limited queue of this host once the last task of its former
// layout has run (S17): about once a second. The layout is named in the statement.
[[nodiscard]] std::vector<Chore> layouts(process::Session& session, const Leadership& leadership,
                                         const std::vector<Served>& served);

// All removals of rows that are past their time (C10), a chore for each: it deletes bounded batches
// until none is left.
[[nodiscard]] std::vector<Chore> retention(process::Session& session,
                                           const std::vector<Served>& served);

// Finds stuck tasks of queues with an on_stuck, and submits a task about each (C9). Two chores for
// each such queue: one on the host that leads this duty of it, and one on every host, for the tasks
// that its workers deferred.
[[nodiscard]] std::vector<Chore> stuck_reports(process::Session& session, ipc::Board& board,
                                               UnknownTasks& unknown,
                                               const std::vector<Served>& served);

// Check periodically for conditions that people should know about (C9): raise present ones, and
// clear past ones, with a log event and, if configured, a task for each change. A type without a
// handler is known only to the host that runs the worker, so each host raises that itself.
struct NoticeSources {
  process::Session& session;
  ipc::Board& board;
  const config::Settings& settings;
  const std::vector<Served>& served;
  UnknownTasks& unknown;
  OtherServers& servers;
};
[[nodiscard]] std::vector<Chore> notices(const NoticeSources& sources);

// Frees named locks whose holder stalled (S38), for clients that only take free locks, within two
// of their TTLs: one statement in 0.75 s, and one more when a lock is due, or one in 4.5 s after a
// minute without a lock. `runtime_dir` is the instance's folder: it creates the bells there, and
// rings them.
[[nodiscard]] Chore locks(process::Session& session, std::string runtime_dir);

// Executes bulk actions, a batch of each in turn (S49). Without an action it polls every six
// seconds, and when its bell rings.
[[nodiscard]] Chore bulk_actions(process::Session& session, ipc::Board& board,
                                 const Leadership& leadership);

// Once a minute: writes the counts of this host's slots, and with them the heartbeat of this
// instance (S50). One host for all writes how many tasks the queues have. `runtime_dir` is the
// instance's folder, `run` the run of its slots; nullopt: it has none, and nothing is written about
// it.
[[nodiscard]] std::vector<Chore> minutes(process::Session& session, const queue::Holder& holder,
                                         const std::string& runtime_dir,
                                         const std::optional<meter::SupervisorRun>& run,
                                         std::vector<queue::ServingPool> pools);

// Runs the checks of the database once a minute, one per step, and stores the findings (S90),
// within one of the leader's terms.
[[nodiscard]] Chore findings(process::Session& session, const config::Settings& settings);

// Writes the state of this host's slots for the pages of all gateways: every 2 s while a viewer is
// active, else once a minute (decision 0030), and once its deployment. Leadership reports viewers.
[[nodiscard]] Chore snapshots(process::Session& session, Leadership& leadership,
                              const queue::Holder& holder, const std::string& runtime_dir,
                              const as_json::HostFacts& facts);

}  // namespace allot::steward

// SPDX-License-Identifier: Apache-2.0
#include "fault/storm.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <memory>

#include "e2e/full_disk.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using support::eventually;

constexpr milliseconds kDying(10'000);
constexpr milliseconds kSampleEvery(1'000);
constexpr milliseconds kPollInterval(100);
constexpr milliseconds kRevival(3'000);  // of a host killed by a task; after a takeover by others

// Target of a fault that excuses nothing: unused by any partition and ignored by the checker.
pid_t no_process() {
  return place_of(0, 0);
}

Nanoseconds in_ns(milliseconds length) {
  return std::chrono::nanoseconds(length).count();
}

}  // namespace

Storm::Storm(Cluster& cluster, Meter& meter, bool spare)
    : cluster_(cluster), meter_(meter), spare_(spare) {
  if (!spare_) return;
  const e2e::Daemon& first = cluster_.hosts().front()->daemon();
  (void)eventually([&] {
    const auto seen = first.status();  // a temporary would not outlive the loop's head
    for (const auto& worker : seen["workers"]) {
      if (worker["pool"] == "calm") spared_worker_ = worker["pid"].get<pid_t>();
    }
    return spared_worker_ != 0;
  });
}

void Storm::run(const std::vector<Event>& events, milliseconds length) {
  const Nanoseconds began = now();
  for (const Event& event : events) {
    wait_until(began + in_ns(event.at));
    inflict(event);
  }
  wait_until(began + in_ns(length));
}

void Storm::calm() {
  while (!later_.empty()) {
    if (!act_if_due()) ::poll(nullptr, 0, 5);
  }
  meter_.sample(false);
}

bool Storm::act_if_due() {
  const auto due = std::min_element(later_.begin(), later_.end(),
                                    [](const Later& a, const Later& b) { return a.at < b.at; });
  if (due == later_.end() || due->at > now()) return false;
  const auto act = std::move(due->act);
  later_.erase(due);
  act();
  return true;
}

void Storm::look_after() {
  while (act_if_due()) {
  }
  for (const auto& host : cluster_.hosts()) {
    if (!host->died()) continue;
    if (++done_["razed"] == 1) first_death_ = host->last_words();
    after(kRevival, [this, &host = *host] { start(host); });
  }
}

void Storm::start(Host& host) {
  if (before_start_) before_start_(host);
  host.start();
}

// An active fault ends at its time, even during the wait for the next one.
void Storm::wait_until(Nanoseconds end) {
  Nanoseconds sample_at = now();
  for (;;) {
    look_after();
    if (now() >= sample_at) {
      sample();
      cluster_.purge_log();
      sample_at = now() + in_ns(kSampleEvery);
    }
    Nanoseconds next = std::min({end, sample_at, now() + in_ns(kPollInterval)});
    for (const Later& later : later_) next = std::min(next, later.at);
    if (next > now()) {
      ::poll(nullptr, 0, static_cast<int>((next - now()) / kMillisecond) + 1);
    } else if (now() >= end) {
      return;
    }
  }
}

void Storm::sample() {
  const bool workers = cluster_.for_workers().troubled();  // both are asked, each time
  const bool submitters = cluster_.for_submitters().troubled();
  meter_.sample(locks_held_ != 0 || stalled_ != 0 || workers || submitters);
}

void Storm::after(milliseconds length, std::function<void()> act) {
  later_.push_back({now() + in_ns(length), std::move(act)});
}

void Storm::inflict(const Event& event) {
  switch (event.kind) {
    case Kind::kKillWorker:
      return kill_worker(event);
    case Kind::kStopWorker:
      return stop_worker(event);
    case Kind::kKillDaemon:
      return kill_daemon(event);
    case Kind::kKillHost:
      return kill_host(event);
    case Kind::kStopHost:
      return stop_host(event);
    case Kind::kKillDatabase:
      return kill_database(event);
    case Kind::kReadOnly:
      return read_only(event);
    case Kind::kHoldLease:
    case Kind::kHoldTask:
      return hold(event);
    case Kind::kDeadlock:
      return deadlock(event);
    case Kind::kKillConnection:
      return kill_connection(event);
    case Kind::kWorkerTrouble:
      sample();
      return cluster_.for_workers().begin(event.trouble, event.all, event.pick, event.length);
    case Kind::kSubmitTrouble:
      sample();
      return cluster_.for_submitters().begin(event.trouble, event.all, event.pick, event.length);
    case Kind::kChangeSchema:
      return change_schema(event);
    case Kind::kFillDisk:
      return fill_disk(event);
    case Kind::kClockStep:
      return step_clock(event);
    case Kind::kFillRuntime:
      return fill_runtime(event);
  }
}

Host* Storm::choose_host(std::uint64_t pick) {
  std::vector<Host*> hosts;
  for (const auto& host : cluster_.hosts()) {
    const bool spared = spare_ && host == cluster_.hosts().front();
    if (host->up() && !spared) hosts.push_back(host.get());
  }
  return hosts.empty() ? nullptr : hosts.at(pick % hosts.size());
}

Storm::Choice Storm::choose_worker(std::uint64_t pick) {
  std::vector<Choice> choices;
  for (const auto& host : cluster_.hosts()) {
    for (Target& target : host->workers()) {
      if (target.pid == spared_worker_) continue;
      choices.push_back({host.get(), std::make_shared<Target>(std::move(target))});
    }
  }
  return choices.empty() ? Choice{} : choices.at(pick % choices.size());
}

void Storm::kill_worker(const Event& event) {
  const auto [host, target] = choose_worker(event.pick);
  const Nanoseconds begin = now();
  if (!target || !target->signal(SIGKILL)) return;
  (void)target->over(kDying);
  ++kills_;
  ++done_[name_of(event)];
  note({name_of(event), target->pid, begin, now(), true});
}

void Storm::stop_worker(const Event& event) {
  const auto [host, target] = choose_worker(event.pick);
  sample();
  const Nanoseconds begin = now();
  if (!target || !target->signal(SIGSTOP)) return;
  ++stalled_;
  ++done_[name_of(event)];
  const pid_t supervisor = host->pid();
  after(event.length, [this, name = name_of(event), target = target, begin, supervisor] {
    sample();
    --stalled_;
    // A process that was killed while stopped did nothing after the stop.
    if (target->over(milliseconds(0)))
      return note({name, target->pid, begin, begin + kMillisecond, true});
    const bool orphan = parent_of(target->pid) != supervisor;
    target->signal(SIGCONT);
    note({name, target->pid, begin, now(), false, orphan});
  });
}

// Its former workers end when their tasks are done, and only then the new daemon may begin.
void Storm::kill_daemon(const Event& event) {
  Host* host = choose_host(event.pick);
  if (host == nullptr) return;
  const Nanoseconds begin = now();
  const auto workers = std::make_shared<Targets>(host->workers());
  const pid_t killed = host->pid();
  host->kill_daemon();
  ++kills_;
  ++done_[name_of(event)];
  after(event.length, [this, name = name_of(event), host, workers, killed, begin] {
    start(*host);
    note({name, killed, begin, now(), false, false, Reach::kHost});
    for (const Target& worker : *workers)
      note({name, worker.pid, begin, now(), false, false, Reach::kHost});
  });
}

void Storm::kill_host(const Event& event) {
  Host* host = choose_host(event.pick);
  if (host == nullptr) return;
  const Nanoseconds begin = now();
  const pid_t supervisor = host->pid();
  const Targets killed = host->kill();
  kills_ += killed.size() + 1;
  ++done_[name_of(event)];
  // Includes processes that were dead by then and not yet settled.
  note({name_of(event), supervisor, begin, now(), true, false, Reach::kHost});
  for (const Target& target : killed) {
    if (!target.worker) continue;
    note({name_of(event), target.pid, begin, now(), true, false, Reach::kHost});
  }
  after(event.length, [this, host] { start(*host); });
}

void Storm::stop_host(const Event& event) {
  Host* host = choose_host(event.pick);
  if (host == nullptr) return;
  sample();
  ++stalled_;
  const Nanoseconds begin = now();
  const auto stopped = std::make_shared<Targets>(host->stop_all());
  ++done_[name_of(event)];
  after(event.length, [this, name = name_of(event), host, stopped, begin] {
    host->resume(*stopped);
    sample();
    --stalled_;
    note({name, host->pid(), begin, now(), false, true, Reach::kHost});
    for (const Target& target : *stopped) {
      if (target.worker) note({name, target.pid, begin, now(), false, true, Reach::kHost});
    }
  });
}

void Storm::kill_database(const Event& event) {
  if (server_down_) return;
  server_down_ = true;
  sample();  // its counters end with it
  const Nanoseconds begin = now();
  cluster_.server().kill9();
  ++kills_;
  ++done_[name_of(event)];
  after(event.length, [this, name = name_of(event), begin] {
    cluster_.server().start();
    server_down_ = false;
    // Transactions that were open at its death are rolled back after its start, and keep their
    // locks until then.
    ++stalled_;
    after(milliseconds(500), [this] {
      sample();
      --stalled_;
    });
    note({name, 0, begin, now(), false, false, Reach::kAll});
  });
}

void Storm::read_only(const Event& event) {
  auto db = cluster_.connect();
  if (!db || locks_held_ != 0) return;
  const Nanoseconds begin = now();
  try {
    // The change waits for open transactions, and writes wait for the change.
    db->execute("SET SESSION lock_wait_timeout = 1; SET GLOBAL read_only = 1");
  } catch (const db::DbError&) {
    return;
  }
  ++done_[name_of(event)];
  const auto held = std::make_shared<db::Connection>(std::move(*db));  // a new one would be refused
  after(event.length, [this, name = name_of(event), held, begin] {
    try {
      held->execute("SET GLOBAL read_only = 0");
    } catch (const db::DbError&) {  // it was killed in between, and is not read-only any more
    }
    note({name, 0, begin, now(), false, false, Reach::kAll});
  });
}

void Storm::hold(const Event& event) {
  auto db = cluster_.connect();
  if (!db) return;
  const Nanoseconds begin = now();
  auto intruder = std::make_shared<Intruder>(std::move(*db));
  std::optional<pid_t> pid;
  sample();
  try {
    pid = event.kind == Kind::kHoldLease ? intruder->hold_lease(event.pick)
                                         : intruder->hold_tasks(event.pick);
  } catch (const db::DbError&) {  // locked by others
  }
  if (!pid) {
    const auto touched = intruder->touched();
    intruder.reset();
    meter_.sample(true);
    return note_failed(event, touched, begin);
  }
  ++locks_held_;
  ++done_[name_of(event)];
  // `held` is the last reference to it.
  after(event.length, [this, name = name_of(event), held = intruder, begin, pid] {
    note({name, *pid, begin, now()});
    // Sessions that waited for them may still block each other.
    after(milliseconds(500), [this] {
      meter_.sample(true);
      --locks_held_;
    });
  });
}

// The fault failed, but held the locks of some rows while it waited for the others. That is a fault
// as well.
void Storm::note_failed(const Event& event, std::optional<pid_t> touched, Nanoseconds begin) {
  if (!touched) return;
  ++done_[name_of(event) + "_failed"];
  note({name_of(event) + "_failed", *touched, begin, now()});
}

void Storm::deadlock(const Event& event) {
  auto db = cluster_.connect();
  if (!db) return;
  const Nanoseconds begin = now();
  sample();
  std::optional<pid_t> pid;
  std::optional<pid_t> touched;
  {
    Intruder intruder(std::move(*db));
    try {
      pid = intruder.deadlock(event.pick);
    } catch (const db::DbError&) {  // the intruder was the victim, or the server went away
    }
    touched = intruder.touched();
  }
  meter_.sample(true);
  if (!pid) return note_failed(event, touched, begin);
  ++done_[name_of(event)];
  note({name_of(event), *pid, begin, now()});
}

void Storm::kill_connection(const Event& event) {
  auto clients = cluster_.for_workers().clients();
  std::erase_if(clients, [](const Proxy::Client& client) {
    return client.connection == 0 || client.pid == 0;
  });
  auto db = cluster_.connect();
  if (!db || clients.empty()) return;
  const auto& victim = clients.at(event.pick % clients.size());
  const Nanoseconds begin = now();
  try {
    db->execute("KILL CONNECTION " + std::to_string(victim.connection));
  } catch (const db::DbError&) {
    return;  // it was gone by then
  }
  ++done_[name_of(event)];
  note({name_of(event), victim.pid, begin, now()});
}

// Each change waits for open transactions, everything else waits for the change, and then the
// server copies the whole table.
void Storm::change_schema(const Event& event) {
  const char* const table = event.pick % 2 == 0 ? "task" : "q_lock_table";
  alter(name_of(event), std::string(table) + " ADD COLUMN note INT NULL");
  after(event.length, [this, name = name_of(event), table] {
    alter(name, std::string(table) + " DROP COLUMN note");
  });
}

void Storm::alter(const std::string& name, const std::string& change) {
  auto db = cluster_.connect();
  if (!db || locks_held_ != 0) return;
  const Nanoseconds begin = now();
  meter_.sample(false);
  bool altered = true;
  try {
    db->execute("SET SESSION lock_wait_timeout = 1; ALTER TABLE " + change + ", ALGORITHM = COPY");
    // A transaction blocked it for a second, or another change is already done.
  } catch (const db::DbError&) {
    altered = false;
  }
  meter_.sample(true);
  if (altered) ++done_[name];
  note({name, 0, begin, now(), false, false, Reach::kAll});
}

void Storm::fill_disk(const Event& event) {
  if (disk_full_ || server_down_) return;
  const Nanoseconds begin = now();
  auto full = std::make_shared<e2e::FullDisk>(cluster_.server(), cluster_.connect());
  full->begin();
  disk_full_ = true;
  ++done_[name_of(event)];
  after(event.length, [this, name = name_of(event), begin, full = std::move(full)]() mutable {
    full.reset();
    // MariaDB 10.11 sometimes dies of this: an assertion of InnoDB fails while it extends a file.
    if (!server_down_ && !cluster_.connect()) {
      cluster_.server().kill9();
      cluster_.server().start();
      ++done_["fill_disk_died"];
    }
    disk_full_ = false;
    note({name, 0, begin, now(), false, false, Reach::kAll});
  });
}

// Ahead only by some seconds: tasks submitted in this time are due by that clock, and later tasks
// wait for it (docs/promises.md). It is recorded at both steps.
void Storm::step_clock(const Event& event) {
  if (cluster_.clock() == nullptr || clock_stepped_) return;
  constexpr std::array kSteps{-3'600, -20, -5, -1, 5, 12};
  clock_stepped_ = true;
  ++done_[name_of(event)];
  const auto step_to = [this, name = name_of(event)](std::chrono::seconds ahead) {
    const Nanoseconds begin = now();
    cluster_.clock()->step_to(ahead);
    note({name, no_process(), begin, now()});
  };
  step_to(std::chrono::seconds(kSteps.at(event.pick % kSteps.size())));
  after(event.length, [this, step_to] {
    step_to(std::chrono::seconds(0));
    clock_stepped_ = false;
  });
}

void Storm::fill_runtime(const Event& event) {
  if (cluster_.runtimes().empty() || runtime_full_) return;
  // A starting daemon needs space, and refuses to start without it.
  if (!cluster_.has_room()) return after(kPollInterval, [this, event] { fill_runtime(event); });
  const Nanoseconds begin = now();
  runtime_full_ = true;
  ++done_[name_of(event)];
  for (const auto& disk : cluster_.runtimes()) disk->leave(0);
  after(event.length, [this, name = name_of(event), begin] {
    for (const auto& disk : cluster_.runtimes()) disk->leave(SIZE_MAX);
    runtime_full_ = false;
    note({name, no_process(), begin, now()});
  });
}

std::vector<Fault> Storm::take_faults() {
  for (Fault& fault : cluster_.for_workers().take_faults()) {
    ++done_["worker_" + fault.kind];
    note(std::move(fault));
  }
  for (const Fault& fault : cluster_.for_submitters().take_faults())
    ++done_["submit_" + fault.kind];
  return std::move(faults_);
}

}  // namespace allot::fault

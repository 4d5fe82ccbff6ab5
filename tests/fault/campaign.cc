// SPDX-License-Identifier: Apache-2.0
#include "fault/campaign.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <memory>
#include <sstream>

#include "e2e/daemon.h"
#include "fault/host.h"
#include "fault/proxy.h"
#include "fault/submitter.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using support::eventually;

constexpr Nanoseconds kMillisecond = 1'000'000;
// A lease of 2 s, seen to stand still, and the back-off of a reconnect.
constexpr Nanoseconds kRecovery = 4'000 * kMillisecond;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options)
      : options_(options),
        server_(options.server_settings),
        for_workers_(folder_ / "w", server_.socket()),
        for_submitters_(folder_ / "s", server_.socket()),
        daemon_(daemon_options()) {
    submit_config_ = folder_.write(
        "submit.toml",
        replaced(support::read_file(daemon_.config_file()), folder_ / "w", folder_ / "s"));
  }

  CampaignResult run() {
    began_ = now();
    start_submitters();
    for (const Event& event :
         make_schedule(options_.seed, options_.length, options_.mean_pause, options_.weights)) {
      wait_until(event.at);
      inflict(event);
    }
    wait_until(options_.length);
    finish();
    gather();
    return std::move(result_);
  }

 private:
  [[nodiscard]] e2e::DaemonOptions daemon_options() {
    e2e::DaemonOptions options;
    options.workers = options_.workers;
    options.daemon_keys = "lease_ttl = \"2s\"\nstop_timeout = \"5s\"";
    const std::string queue = "partitions = 8\nmax_attempts = 100\nretry_delay_max = \"200ms\"\n";
    options.queue_keys = queue;
    options.more = "[queues.exclusive]\nexclusive = true\nretry_delay = \"20ms\"\n" + queue +
                   "[plugins.fault]\noutput = \"" + traces() + "\"\n";
    options.plugins = ALLOT_FAULT_FOLDER;
    options.log_level = "info";
    options.server = &server_;
    options.database_keys =
        "socket = \"" + (folder_ / "w") + "\"\nuser = \"root\"\nconnect_timeout = \"1s\"";
    return options;
  }

  [[nodiscard]] std::string traces() const { return folder_ / "traces"; }
  [[nodiscard]] std::string told(unsigned submitter) const {
    return folder_ / ("told." + std::to_string(submitter));
  }

  void start_submitters() {
    for (unsigned i = 1; i <= options_.submitters; ++i) {
      SubmitterOptions submitter;
      submitter.number = i;
      submitter.config_file = submit_config_;
      submitter.told_file = told(i);
      submitter.seed = options_.seed;
      submitter.queues = {"default", "exclusive"};
      submitter.per_second = options_.per_second;
      submitters_.push_back(std::make_unique<Submitter>(std::move(submitter)));
    }
  }

  // What was begun ends in its time, also while the next fault is waited for.
  void wait_until(milliseconds at) {
    const Nanoseconds end = began_ + std::chrono::nanoseconds(at).count();
    for (;;) {
      const auto due = std::min_element(later_.begin(), later_.end(), sooner);
      const Nanoseconds next = due == later_.end() ? end : std::min(end, due->at);
      if (next > now()) {
        ::poll(nullptr, 0, static_cast<int>((next - now()) / kMillisecond) + 1);
        continue;
      }
      if (due == later_.end() || due->at > end) return;
      const auto act = std::move(due->act);
      later_.erase(due);
      act();
    }
  }

  struct Later {
    Nanoseconds at;
    std::function<void()> act;
  };
  static bool sooner(const Later& a, const Later& b) { return a.at < b.at; }

  void after(milliseconds length, std::function<void()> act) {
    later_.push_back({now() + std::chrono::nanoseconds(length).count(), std::move(act)});
  }

  void inflict(const Event& event) {
    switch (event.kind) {
      case Kind::kKillWorker:
        return kill_worker(event);
      case Kind::kStopWorker:
        return stop_worker(event);
      case Kind::kKillDaemon:
        return kill_daemon();
      case Kind::kKillDatabase:
        return kill_database(event);
      case Kind::kKillConnection:
        return kill_connection(event);
      case Kind::kWorkerTrouble:
        return for_workers_.begin(event.trouble, event.all, event.pick, event.length);
      case Kind::kSubmitTrouble:
        return for_submitters_.begin(event.trouble, event.all, event.pick, event.length);
    }
  }

  [[nodiscard]] std::shared_ptr<Target> choose_worker(std::uint64_t pick) {
    auto targets = workers_of(daemon_.process().pid());
    if (targets.empty()) return nullptr;
    return std::make_shared<Target>(std::move(targets.at(pick % targets.size())));
  }

  void kill_worker(const Event& event) {
    const auto target = choose_worker(event.pick);
    const Nanoseconds begin = now();
    if (!target || !target->signal(SIGKILL)) return;
    (void)target->over(milliseconds(10'000));
    done({"kill_worker", target->pid, begin, now(), true});
  }

  void stop_worker(const Event& event) {
    const auto target = choose_worker(event.pick);
    const Nanoseconds begin = now();
    if (!target || !target->signal(SIGSTOP)) return;
    const std::string stat = "/proc/" + std::to_string(target->pid) + "/stat";
    (void)eventually([&] { return support::read_file(stat).find(") T ") != std::string::npos; },
                     milliseconds(1'000));
    const Nanoseconds stopped = now();
    after(event.length, [this, target, begin, stopped] {
      // Who was killed while it stood still did nothing after it was stopped.
      if (target->over(milliseconds(0)))
        return done({"stop_worker", target->pid, begin, stopped, true});
      target->signal(SIGCONT);
      done({"stop_worker", target->pid, begin, now()});
    });
  }

  void kill_daemon() {
    const Nanoseconds begin = now();
    daemon_.process().kill9();
    daemon_.start();
    // Its former workers end when their task is done.
    done({"kill_daemon", 0, begin, now()});
  }

  void kill_database(const Event& event) {
    if (server_down_) return;
    server_down_ = true;
    const Nanoseconds begin = now();
    server_.kill9();
    after(event.length, [this, begin] {
      server_.start();
      server_down_ = false;
      done({"kill_database", 0, begin, now()});
    });
  }

  void kill_connection(const Event& event) {
    auto clients = for_workers_.clients();
    std::erase_if(clients, [](const Proxy::Client& client) { return client.connection == 0; });
    if (server_down_ || clients.empty()) return;
    const auto& victim = clients.at(event.pick % clients.size());
    const Nanoseconds begin = now();
    try {
      server_.connect().execute("KILL CONNECTION " + std::to_string(victim.connection));
    } catch (const db::DbError&) {
      return;  // it was gone by then
    }
    done({"kill_connection", victim.pid, begin, now()});
  }

  void done(Fault fault) {
    ++result_.faults[fault.kind];
    evidence_.faults.push_back(std::move(fault));
  }

  void problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  void finish() {
    while (!later_.empty()) wait_until(milliseconds((now() - began_) / kMillisecond + 20));
    for (const auto& submitter : submitters_) {
      submitter->stop();
      if (!submitter->error().empty()) problem("a submitter: " + submitter->error());
    }
    if (!eventually([this] { return daemon_.drained(); }, options_.drain_limit))
      problem("not all was done in time");
    result_.seconds = static_cast<double>(now() - began_) / 1e9;
    if (daemon_.stop() != support::ExitStatus{0, 0}) problem("allotd did not stop well");
    const auto silent = [](const Proxy& proxy) { return proxy.clients().empty(); };
    if (!eventually([&] { return silent(for_workers_) && silent(for_submitters_); }))
      problem("a connection is still open");
  }

  void gather() {
    for (Fault& fault : for_workers_.take_faults()) {
      ++result_.faults["worker_" + fault.kind];
      evidence_.faults.push_back(std::move(fault));
    }
    for (const Fault& fault : for_submitters_.take_faults())
      ++result_.faults["submit_" + fault.kind];
    for (unsigned i = 1; i <= options_.submitters; ++i) {
      const auto told_to_it = read_told(told(i));
      evidence_.told.insert(evidence_.told.end(), told_to_it.begin(), told_to_it.end());
    }
    evidence_.traces = read_traces(traces());
    evidence_.waiting = tags_in("task");
    evidence_.dead = tags_in("task_dead");
    evidence_.exclusive = {"exclusive"};
    evidence_.recovery = kRecovery;
    result_.verdict = check(evidence_);
    if (result_.verdict.clean() && result_.problem.empty()) return;
    const std::string log = daemon_.log();
    result_.log_tail = log.substr(log.size() - std::min<std::size_t>(log.size(), 8'000));
  }

  [[nodiscard]] std::vector<std::string> tags_in(const std::string& table) const {
    std::vector<std::string> tags;
    auto connection = daemon_.connect();
    auto results = connection.execute("SELECT payload FROM " + table);
    while (const auto row = results.front().next()) {
      const std::string payload(row->text(0));
      tags.push_back(payload.substr(0, payload.find(' ')));
    }
    return tags;
  }

  CampaignOptions options_;
  support::TempDir folder_;
  support::Database server_;
  Proxy for_workers_;
  Proxy for_submitters_;
  e2e::Daemon daemon_;
  std::string submit_config_;
  std::vector<std::unique_ptr<Submitter>> submitters_;
  std::vector<Later> later_;
  bool server_down_ = false;
  Nanoseconds began_ = 0;
  Evidence evidence_;
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const CampaignOptions& options) {
  return Campaign(options).run();
}

std::string table_of(const CampaignOptions& options, const CampaignResult& result) {
  const Verdict& v = result.verdict;
  std::ostringstream table;
  const auto row = [&table](const std::string& what, std::uint64_t count) {
    table << "| " << what << " | " << count << " |\n";
  };
  table << "| seed " << options.seed << ", " << static_cast<std::uint64_t>(result.seconds)
        << " s | |\n|---|---:|\n";
  row("tasks acknowledged", v.acknowledged);
  row("tasks refused", v.refused);
  row("tasks whose submission had no reply", v.unknown);
  row("of these, there", v.unknown_exist);
  row("handlers started", v.runs);
  row("dead because their handler said so", v.dead_as_wanted);
  row("duplicates", v.duplicates);
  row("overlaps", v.overlaps);
  for (const auto& [kind, count] : result.faults) row("fault " + kind, count);
  row("**lost**", v.lost);
  row("**unfinished**", v.unfinished);
  row("**unexpected**", v.unexpected);
  row("**one submission, two tasks**", v.doubled);
  row("**batches torn**", v.torn);
  row("**dead without reason**", v.buried);
  row("**unexplained duplicates**", v.unexplained_duplicates);
  row("**unexplained overlaps**", v.unexplained_overlaps);
  row("**overlaps in an exclusive queue**", v.exclusive_overlaps);
  if (!result.problem.empty()) table << "\nproblem: " << result.problem << "\n";
  for (const std::string& complaint : v.complaints) table << complaint << "\n";
  return table.str();
}

}  // namespace allot::fault

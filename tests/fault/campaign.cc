// SPDX-License-Identifier: Apache-2.0
#include "fault/campaign.h"

#include <algorithm>
#include <memory>

#include "e2e/full_disk.h"
#include "fault/ledger.h"
#include "fault/storm.h"
#include "fault/story.h"
#include "fault/submitter.h"
#include "support/eventually.h"

namespace allot::fault {
namespace {

using support::eventually;

// S5: no handler starts later than one TTL (2 s) after the last renewal of its lease. So a run that
// starts more than a TTL after a fault has a lease that was renewed after it, on a working
// connection, and the fault does not explain another start of its task any more. One back-off (0.5
// s) is added, for workers that tried just before the end and for ends that are recorded a little
// early. A connection attempt adds nothing: one that hangs in a fault ends with it.
constexpr Nanoseconds kRecovery = 2'500'000'000;
// A worker acknowledges when the oldest finished task has waited for 100 ms, or after the current
// task, which takes at most 300 ms in mixed work; the rest is for a busy machine.
constexpr Nanoseconds kUnacknowledged = 1'000'000'000;
constexpr Nanoseconds kPatience = 120'000'000'000;

std::vector<std::string> server_settings(const CampaignOptions& options) {
  std::vector<std::string> settings = options.server_settings;
  if (options.wake) {
    settings.insert(settings.end(), {"--log-bin", "--binlog-format=ROW", "--server-id=1"});
  }
  if (options.weights.at(static_cast<std::size_t>(Kind::kFillDisk)) == 0) return settings;
  e2e::FullDisk::ignore_signal();
  for (std::string& setting : e2e::FullDisk::server_settings())
    settings.push_back(std::move(setting));
  return settings;
}

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options)
      : options_(options),
        cluster_({.hosts = options.hosts,
                  .workers = options.workers,
                  .max_attempts = options.max_attempts,
                  .server_settings = server_settings(options),
                  .evidence = options.evidence,
                  .other_ttl = options.other_ttl,
                  .wire = options.wire,
                  .wake = options.wake}),
        meter_(cluster_),
        storm_(cluster_, meter_, options.spare) {}

  CampaignResult run() {
    const Nanoseconds began = now();
    start_submitters();
    // On a slow machine a fault may hit nearly every submission, so that few are acknowledged.
    for (std::uint64_t seed = options_.seed; seed == options_.seed || !enough(began); ++seed) {
      storm_.run(make_schedule(seed, options_.length, options_.mean_pause, options_.weights),
                 options_.length);
    }
    storm_.calm();
    finish();
    result_.seconds = static_cast<double>(now() - began) / 1e9;
    stop();
    gather();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string reply_file(unsigned submitter) const {
    return cluster_.file("replies." + std::to_string(submitter));
  }

  [[nodiscard]] bool enough(Nanoseconds began) const {
    std::uint64_t acknowledged = 0;
    for (const auto& submitter : submitters_) acknowledged += submitter->acknowledged();
    return acknowledged >= least_acknowledged(options_.work) || now() - began > kPatience;
  }

  void start_submitters() {
    for (unsigned i = 1; i <= options_.submitters; ++i) {
      SubmitterOptions submitter;
      submitter.number = i;
      submitter.config_file = cluster_.submit_config(i % options_.hosts);
      submitter.reply_file = reply_file(i);
      submitter.seed = options_.seed;
      submitter.queues = Cluster::queues();
      submitter.per_second = options_.per_second;
      submitter.work = options_.work;
      if (options_.work == Work::kLate) {
        submitter.queues = {"default", "fragile"};
        submitter.lines = submitter.batch = 2;
      }
      submitters_.push_back(std::make_unique<Submitter>(std::move(submitter)));
    }
  }

  void problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  void finish() {
    for (const auto& submitter : submitters_) {
      submitter->stop();
      if (!submitter->error().empty()) problem("a submitter: " + submitter->error());
    }
    const bool done = eventually(
        [this] {
          storm_.look_after();
          return cluster_.drained();
        },
        options_.drain_limit);
    if (!done) problem("not all was done in time");
    storm_.calm();
  }

  void stop() {
    for (const auto& host : cluster_.hosts()) {
      if (host->daemon().stop() != support::ExitStatus{0, 0})
        problem("an allotd did not stop well: " + host->daemon().process().err());
    }
    const auto silent = [](const Proxy& proxy) { return proxy.clients().empty(); };
    if (!eventually(
            [&] { return silent(cluster_.for_workers()) && silent(cluster_.for_submitters()); }))
      problem("a connection is still open");
  }

  void gather() {
    Evidence evidence;
    evidence.faults = read_faults(cluster_.traces() + ".razed");
    for (Fault& fault : storm_.take_faults()) evidence.faults.push_back(std::move(fault));
    // A worker that a busy machine delays beyond its silence limit is killed.
    evidence.wall_clock = wall_clock();
    for (const auto& host : cluster_.hosts()) add_kills(evidence, host->daemon().log());
    for (const Fault& fault : evidence.faults) append_line(cluster_.file("faults"), line_of(fault));
    for (unsigned i = 1; i <= options_.submitters; ++i) {
      const auto replies = read_replies(reply_file(i));
      evidence.replies.insert(evidence.replies.end(), replies.begin(), replies.end());
    }
    evidence.traces = read_traces(cluster_.traces());
    evidence.waiting = cluster_.tags_in("task");
    evidence.dead = cluster_.tags_in("task_dead");
    evidence.exclusive = Cluster::exclusive_queues();
    evidence.max_attempts = options_.max_attempts;
    evidence.recovery = kRecovery;
    evidence.unacknowledged = kUnacknowledged;
    result_.verdict = check(evidence);
    auto db = cluster_.server().connect();
    result_.server = support::value_of(
        db, "SELECT CONCAT(VERSION(), IF(@@log_bin, ', binary log', ', no binary log'))");
    for (const std::string& tag : result_.verdict.doubtful) {
      result_.stories.push_back(story_of(evidence, tag));
      append_line(cluster_.file("stories"), result_.stories.back());
    }
    result_.faults = storm_.done();
    if (result_.done("razed") != 0 && options_.work != Work::kRazing)
      problem("an allotd ended without being killed: " + storm_.first_death());
    result_.kills = storm_.kills();
    result_.followed = cluster_.times_followed();
    result_.counted = meter_.counted();
    result_.provoked = meter_.provoked();
    result_.undisturbed_runs = undisturbed(evidence);
    result_.supervisor = meter_.supervisor();
    result_.worker = meter_.worker();
    cluster_.keep_logs();
  }

  // Number of handlers that started while no fault disturbed the server's counts.
  [[nodiscard]] std::uint64_t undisturbed(const Evidence& evidence) const {
    const auto& times = meter_.provoked_times();
    std::uint64_t runs = 0;
    for (const Trace& trace : evidence.traces) {
      if (trace.mark != Mark::kStart && trace.mark != Mark::kBeside) continue;
      const auto later =
          std::upper_bound(times.begin(), times.end(), trace.at,
                           [](Nanoseconds at, const auto& span) { return at < span.first; });
      if (later == times.begin() || std::prev(later)->second < trace.at) ++runs;
    }
    return runs;
  }

  CampaignOptions options_;
  Cluster cluster_;
  Meter meter_;
  Storm storm_;
  std::vector<std::unique_ptr<Submitter>> submitters_;
  CampaignResult result_;
};

}  // namespace

std::uint64_t CampaignResult::done(const std::string& kind) const {
  const auto found = faults.find(kind);
  return found == faults.end() ? 0 : found->second;
}

CampaignResult run_campaign(const CampaignOptions& options) {
  return Campaign(options).run();
}

}  // namespace allot::fault

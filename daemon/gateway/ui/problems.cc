// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/problems.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "gateway/ui/words.h"

namespace allot::gateway::ui {
namespace {

constexpr std::chrono::minutes kLate{5};
constexpr double kManyErrors = 0.1;

std::string percent(double part) {
  return std::to_string(std::lround(100 * part)) + " %";
}

Problem of_database(const Document& failed) {
  if (failed.status() == 403) {
    return {"rights", "bad", "This account may read no queue.",
            "Ask for a token with the role read."};
  }
  return {
      "database", "bad", "The gateway cannot use the database: " + failed.detail(),
      "Check the server, and [gateway.database] of the configuration; the log of the gateway has "
      "the error of each attempt."};
}

// A problem of a steward duty that concerns no single queue.
Problem of_duties(const Visit& visit, const json& notice, const std::string& key,
                  const std::string& page, const std::string& tail) {
  const std::string kind = text_of(notice, "kind");
  const std::string subject = text_of(notice, "subject");
  if (kind == "schedule") {
    return {key,
            "bad",
            "Schedule " + subject + tail,
            "Correct it, or the queue that it names.",
            visit.root + "schedules/" + api::escaped(subject),
            "Show the schedule"};
  }
  if (kind == "leader") {
    return {key, "bad", "No host leads the duty " + subject + tail,
            "A steward has to run on at least one host: start allotd."};
  }
  if (kind == "purge") {
    return {key,
            "bad",
            "The purge of queue " + subject + " is behind" + tail,
            "It catches up by itself if the steward runs; allot doctor says more.",
            page,
            "Show the queue"};
  }
  return {key, "bad", subject + tail, "allot doctor says more."};
}

// Why tasks of a queue are late, and the remedy.
struct Cause {
  std::string what;  // "All 2 workers that serve it are busy ..."
  std::string fix;
  std::string address;
  std::string link;
};

// The workers that serve a queue, and what they do.
struct Load {
  std::uint64_t workers = 0;
  std::uint64_t busy = 0;
  std::uint64_t longest_ms = 0;
  std::map<std::string, std::uint64_t> types{};  // of the running tasks
};

bool serves(const json& host, const std::string& pool_name, const std::string& queue) {
  for (const json& pool : list_of(host, "pools")) {
    if (text_of(pool, "name") != pool_name) continue;
    for (const json& each : list_of(pool, "queues")) {
      if (each == json(queue) || each == json("*")) return true;
    }
  }
  return false;
}

Load load_of(const Seen& seen, const std::string& queue) {
  Load load;
  for (const json& host : items_of(seen.workers)) {
    if (flag_of(host, "silent")) continue;
    for (const json& worker : list_of(host, "workers")) {
      if (!serves(host, text_of(worker, "pool"), queue)) continue;
      ++load.workers;
      const json& running = list_of(worker, "running");
      if (!running.empty()) ++load.busy;
      for (const json& task : running) {
        ++load.types[text_of(task, "type")];
        load.longest_ms =
            std::max(load.longest_ms, number_of(task, "running_ms") + number_of(host, "age_ms"));
      }
    }
  }
  return load;
}

std::optional<Cause> busy_workers(const Visit& visit, const Seen& seen, const std::string& queue) {
  const Load load = load_of(seen, queue);
  if (load.workers == 0 || load.busy < load.workers) return std::nullopt;
  const auto most =
      std::max_element(load.types.begin(), load.types.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return Cause{
      "All " + number(load.workers) + " workers that serve it are busy, mostly with " +
          most->first + ", for up to " + span(std::chrono::seconds(load.longest_ms / 1'000)) + ".",
      "See whether these tasks run longer than usual: what they wait for may be slow. Else "
      "add workers.",
      visit.root + "running", "Show what runs"};
}

// A rate that the queue uses up, or that lets less than a task in five minutes start.
bool is_limited(double per_second, const Traffic* traffic) {
  constexpr double kUsedUp = 0.8;
  if (per_second * std::chrono::seconds(kLate).count() < 1) return true;
  return traffic != nullptr && traffic->recent_out >= kUsedUp * 60 * per_second;
}

// `lag` is null if unknown.
Cause cause_of(const Visit& visit, const Seen& seen, const json& queue, const json& lag) {
  const std::string name = text_of(queue, "name");
  const std::string address = queue_address(visit, name);
  if (const std::uint64_t overdue = number_of(lag, "overdue"); overdue > 0) {
    return {number(overdue) + " of its partitions are leased by workers that do not answer.",
            "Other workers take them over. If this lasts, start allotd on any host that serves the "
            "queue.",
            address, "Show who has them"};
  }
  const json& rate = part_of(queue, "rate");
  const auto traffic = seen.traffic.find(name);
  if (part_of(rate, "per_second").is_number() &&
      is_limited(rate["per_second"].get<double>(),
                 traffic == seen.traffic.end() ? nullptr : &traffic->second)) {
    return {"Its rate lets only " + rate["per_second"].dump() + " tasks start in a second.",
            "Raise the rate: allot queue rate " + shell_word(name) + " NUMBER", address,
            "Show the queue"};
  }
  if (auto busy = busy_workers(visit, seen, name)) return std::move(*busy);
  return {"", "Add workers, or look for a task that holds its partition.", address,
          "Show the queue"};
}

Problem of_late(const std::string& key, const std::string& what, const Cause& cause) {
  return {key,       "bad",         what + (cause.what.empty() ? "" : " " + cause.what),
          cause.fix, cause.address, cause.link};
}

Problem of_notice(const Visit& visit, const json& notice) {
  const std::string kind = text_of(notice, "kind");
  const std::string subject = text_of(notice, "subject");
  const std::string queue = text_of(notice, "queue");
  const std::string task = text_of(notice, "task");
  const std::string page = queue.empty() ? "" : queue_address(visit, queue);
  const std::string key = "notice " + kind + " " + subject;
  const std::string detail = text_of(notice, "detail");
  const std::string tail = detail.empty() ? "." : ": " + detail;
  if (kind == "dead") {
    return {key,
            "bad",
            "Queue " + subject + " has dead tasks" + tail,
            "Read the error, fix its cause, then retry the group.",
            visit.root + "failures?queue=" + api::escaped(queue),
            "Show failures"};
  }
  if (kind == "no_handler") {
    return {key,
            "bad",
            "No handler for " + subject + tail,
            "Install the plugin or program that has this type, or correct the type.",
            task.empty() ? page : task_address(visit, task),
            "Show the task"};
  }
  if (kind == "unserved") {
    return {key,
            "bad",
            "No worker serves queue " + subject + tail,
            "Start allotd on a host, or name the queue in a pool: [pools.NAME] queues.",
            page,
            "Show the queue"};
  }
  return of_duties(visit, notice, key, page, tail);
}

// A finding of a steward check.
Problem of_finding(const Visit& visit, const json& finding) {
  const std::string about = text_of(finding, "check");
  const std::string queue = text_of(finding, "queue");
  return {"finding " + about + " " + text_of(finding, "text"),
          text_of(finding, "level") == "fail" ? "bad" : "warn",
          about + ": " + text_of(finding, "text"),
          text_of(finding, "fix"),
          queue.empty() ? "" : queue_address(visit, queue),
          "Show the queue"};
}

Problem of_pause(const Visit& visit, const std::string& queue, const json& paused) {
  const std::string reason = text_of(paused, "reason");
  const auto since = moment(text_of(paused, "since"));
  return {"paused " + queue,
          "paused",
          "Queue " + queue +
              (since ? " has been paused for " + span(visit.now - *since) : " is paused") +
              (reason.empty() ? "." : ": " + reason),
          "No host starts its tasks until it is resumed.",
          queue_address(visit, queue),
          "Show the queue"};
}

void add_of_hosts(std::vector<Problem>& all, const Seen& seen) {
  if (!seen.workforce.known) return;
  if (seen.workforce.hosts == 0) {
    all.push_back({"hosts", "bad",
                   seen.workforce.silent == 0 ? "No daemon has ever run on this database."
                                              : "No daemon is running: all hosts are silent.",
                   "Start allotd on a host: systemctl start allotd"});
  } else if (seen.workforce.silent > 0) {
    all.push_back({"silent", "bad",
                   number(seen.workforce.silent) + " of " +
                       number(seen.workforce.silent + seen.workforce.hosts) +
                       " hosts are silent for more than 150 s.",
                   "allot doctor on that host says why; one that is gone for good is forgotten "
                   "after a month."});
  }
}

// Workers without a database connection, on hosts whose steward has one, and workers that have not
// taken the new configuration.
void add_of_workers(std::vector<Problem>& all, const Visit& visit, const Seen& seen) {
  std::map<std::string, std::uint64_t> away;
  std::map<std::string, std::uint64_t> former;
  for (const json& host : items_of(seen.workers)) {
    if (flag_of(host, "silent")) continue;
    for (const json& worker : list_of(host, "workers")) {
      const std::string pool = "pool " + text_of(worker, "pool") + " on " + text_of(host, "host");
      if (flag_of(worker, "database_unreachable")) ++away[pool];
      if (flag_of(worker, "stale_configuration")) ++former[pool];
    }
  }
  for (const auto& [pool, count] : former) {
    all.push_back(
        {"former " + pool, "warn",
         number(count) + " workers of " + pool + " still use the former configuration.",
         "Each takes the new one when its task has ended. If this lasts, see what it runs.",
         visit.root + "workers", "Show the workers"});
  }
  for (const auto& [pool, count] : away) {
    all.push_back({"away " + pool, "bad",
                   number(count) + " workers of " + pool + " do not reach the database.",
                   "allot doctor on that host says why.", visit.root + "workers",
                   "Show the workers"});
  }
}

// `reported`: queues already reported as not served by a pool.
void add_of_findings(std::vector<Problem>& all, const Visit& visit, const Seen& seen,
                     const std::set<std::string>& reported) {
  for (const json& finding : items_of(seen.findings)) {
    const std::string queue = text_of(finding, "queue");
    const bool unserved = text_of(finding, "check") == "queue " + queue;
    const bool no_host = seen.workforce.known && seen.workforce.hosts == 0;
    if (unserved && (reported.contains(queue) || no_host)) continue;
    all.push_back(of_finding(visit, finding));
  }
}

// `reported`: queues for which a notice reports more.
void add_of_queue(std::vector<Problem>& all, const Visit& visit, const Seen& seen,
                  const json& queue, const json& lag, std::set<std::string>& reported) {
  const std::string name = text_of(queue, "name");
  const auto paused = queue.find("paused");
  if (paused != queue.end() && paused->is_object()) {
    all.push_back(of_pause(visit, name, *paused));
    return;
  }
  const std::string address = queue_address(visit, name);
  const std::chrono::seconds late(number_of(lag, "oldest_due_us") / 1'000'000);
  const bool unserved = seen.workforce.known && seen.workforce.hosts > 0 &&
                        seen.workforce.of(name) == 0 && late.count() > 0;
  if (unserved && !reported.contains(name)) {
    all.push_back(
        {"unserved " + name, "bad",
         "No pool serves queue " + name + ", and a task has been due for " + span(late) + ".",
         "Name the queue in a pool: [pools.NAME] queues, then reload allotd.", address,
         "Show the queue"});
    reported.insert(name);
  } else if (late >= kLate && !reported.contains(name)) {
    all.push_back(of_late(
        "late " + name, "Queue " + name + ": the oldest task has been due for " + span(late) + ".",
        cause_of(visit, seen, queue, lag)));
  }
  const auto traffic = seen.traffic.find(name);
  const auto rate = traffic == seen.traffic.end() ? std::nullopt : traffic->second.error_rate();
  if (rate && *rate >= kManyErrors) {
    all.push_back({"errors " + name, "bad",
                   "Queue " + name + ": " + percent(*rate) +
                       " of the attempts in the last 10 minutes failed.",
                   "Read the error and fix its cause.",
                   visit.root + "failures?queue=" + api::escaped(name), "Show failures"});
  }
}

}  // namespace

std::vector<Problem> problems_of(const Visit& visit, const Seen& seen) {
  std::vector<Problem> all;
  if (seen.queues == nullptr) return all;
  for (const Document* each : {seen.queues, seen.lags, seen.notices, seen.workers, seen.findings}) {
    const bool failed =
        each != nullptr && !each->ok() && (each == seen.queues || each->status() >= 500);
    if (!failed) continue;
    all.push_back(of_database(*each));
    break;
  }
  if (!seen.queues->ok()) return all;
  add_of_hosts(all, seen);
  add_of_workers(all, visit, seen);
  std::map<std::string, json> lags;
  std::map<std::string, json> queues;
  for (const json& lag : items_of(seen.lags)) lags[text_of(lag, "queue")] = lag;
  for (const json& queue : items_of(seen.queues)) queues[text_of(queue, "name")] = queue;
  std::set<std::string> reported;
  for (const json& notice : items_of(seen.notices)) {
    const std::string kind = text_of(notice, "kind");
    const std::string queue = text_of(notice, "queue");
    if (kind == "waiting" || kind == "unserved") reported.insert(queue);
    if (kind == "waiting" && queues.contains(queue)) {
      const std::string detail = text_of(notice, "detail");
      all.push_back(
          of_late("notice waiting " + queue,
                  "Queue " + queue + " is late" + (detail.empty() ? "." : ": " + detail + "."),
                  cause_of(visit, seen, queues[queue], lags[queue])));
    } else {
      all.push_back(of_notice(visit, notice));
    }
  }
  for (const json& queue : items_of(seen.queues)) {
    add_of_queue(all, visit, seen, queue, lags[text_of(queue, "name")], reported);
  }
  add_of_findings(all, visit, seen, reported);
  return all;
}

}  // namespace allot::gateway::ui

// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/problems.h"

#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
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

Problem of_database(const Document& queues) {
  if (queues.status() == 403) {
    return {"rights", "bad", "This account may read no queue.",
            "Ask for a token with the role read."};
  }
  return {
      "database", "bad", "The database does not answer: " + queues.detail(),
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
  if (kind == "waiting") {
    return {key,
            "bad",
            "Queue " + subject + " is late" + tail,
            "Add workers, or look for a task that holds its partition.",
            page,
            "Show the queue"};
  }
  return of_duties(visit, notice, key, page, tail);
}

// A finding of a steward check.
Problem of_finding(const Visit& visit, const json& finding) {
  const std::string about = text_of(finding, "about");
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

// Workers without a database connection, on hosts whose steward has one.
void add_of_workers(std::vector<Problem>& all, const Visit& visit, const Seen& seen) {
  std::map<std::string, std::uint64_t> away;
  for (const json& host : items_of(seen.workers)) {
    if (flag_of(host, "silent")) continue;
    for (const json& worker : list_of(host, "workers")) {
      if (!flag_of(worker, "database_away")) continue;
      ++away["pool " + text_of(worker, "pool") + " on " + text_of(host, "host")];
    }
  }
  for (const auto& [pool, count] : away) {
    all.push_back({"away " + pool, "bad",
                   number(count) + " workers of " + pool + " do not reach the database.",
                   "allot doctor on that host says why.", visit.root + "workers",
                   "Show the workers"});
  }
}

// `told`: queues already reported as not served by a pool.
void add_of_findings(std::vector<Problem>& all, const Visit& visit, const Seen& seen,
                     const std::set<std::string>& told) {
  for (const json& finding : items_of(seen.findings)) {
    const std::string queue = text_of(finding, "queue");
    const bool unserved = text_of(finding, "about") == "queue " + queue;
    const bool no_host = seen.workforce.known && seen.workforce.hosts == 0;
    if (unserved && (told.contains(queue) || no_host)) continue;
    all.push_back(of_finding(visit, finding));
  }
}

// `told`: queues for which a notice reports more.
void add_of_queue(std::vector<Problem>& all, const Visit& visit, const Seen& seen,
                  const json& queue, const json& lag, std::set<std::string>& told) {
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
  if (unserved && !told.contains(name)) {
    all.push_back(
        {"unserved " + name, "bad",
         "No pool serves queue " + name + ", and a task has been due for " + span(late) + ".",
         "Name the queue in a pool: [pools.NAME] queues, then reload allotd.", address,
         "Show the queue"});
    told.insert(name);
  } else if (late >= kLate && !told.contains(name)) {
    all.push_back({"late " + name, "bad",
                   "Queue " + name + ": the oldest task has been due for " + span(late) + ".",
                   "Add workers, raise its rate, or find what holds its partition.", address,
                   "Show the queue"});
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
  if (seen.queues == nullptr || !seen.queues->ok()) {
    if (seen.queues != nullptr) all.push_back(of_database(*seen.queues));
    return all;
  }
  add_of_hosts(all, seen);
  add_of_workers(all, visit, seen);
  std::set<std::string> told;
  for (const json& notice : items_of(seen.notices)) {
    const std::string kind = text_of(notice, "kind");
    if (kind == "waiting" || kind == "unserved") told.insert(text_of(notice, "queue"));
    all.push_back(of_notice(visit, notice));
  }
  std::map<std::string, json> lags;
  for (const json& lag : items_of(seen.lags)) lags[text_of(lag, "queue")] = lag;
  for (const json& queue : items_of(seen.queues)) {
    add_of_queue(all, visit, seen, queue, lags[text_of(queue, "name")], told);
  }
  add_of_findings(all, visit, seen, told);
  return all;
}

}  // namespace allot::gateway::ui

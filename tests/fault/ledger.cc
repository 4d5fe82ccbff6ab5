// SPDX-License-Identifier: Apache-2.0
#include "fault/ledger.h"

#include <ctime>
#include <iomanip>
#include <set>
#include <sstream>

#include "fault/work.h"

namespace allot::fault {
namespace {

std::string number_behind(const std::string& line, const std::string& key) {
  const auto at = line.find(" " + key + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + key.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// "2026-11-23T09:40:47.123Z ..." as nanoseconds since 1970; 0: not such a line.
Nanoseconds time_of(const std::string& line) {
  std::tm time{};
  std::istringstream in(line);
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  double fraction = 0;
  if (!in || !(in >> fraction)) return 0;
  return ::timegm(&time) * kSecond + static_cast<Nanoseconds>(fraction * 1e9);
}

// Tasks without any trace, which may be dead because they expired before they began.
std::set<std::string> may_have_expired(const Ledger& ledger,
                                       const std::map<std::string, std::set<std::string>>& ran) {
  std::set<std::string> tags;
  for (const Reply& reply : ledger.evidence.replies) {
    for (std::uint64_t i = 0; i < reply.count; ++i) {
      const std::string tag = tag_of(reply.submitter, reply.first + i);
      const auto item = item_of(ledger.draw, tag);
      if (item && item->expires_in.count() != 0 && ran.count(tag) == 0) tags.insert(tag);
    }
  }
  return tags;
}

struct WorkersEnd {
  std::string line;
  pid_t pid = 0;
  Nanoseconds at = 0;
};

// Entries `event` of a worker in a supervisor's log.
std::vector<WorkersEnd> ends_in(const std::string& log, const std::string& event,
                                Nanoseconds wall_clock) {
  std::vector<WorkersEnd> ends;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" supervisor " + event + " ") == std::string::npos) continue;
    const std::string number = number_behind(line, "pid");
    if (number.empty()) continue;
    ends.push_back({line, static_cast<pid_t>(std::stol(number)), time_of(line) - wall_clock});
  }
  return ends;
}

}  // namespace

void add_kills(Evidence& evidence, const std::string& log) {
  for (const WorkersEnd& end : ends_in(log, "worker.kill", evidence.wall_clock)) {
    Fault fault{"supervisor", end.pid, end.at, end.at + 50 * kMillisecond, true};
    fault.inner = true;
    evidence.faults.push_back(fault);
  }
}

void add_log(Ledger& ledger, const std::string& log) {
  add_kills(ledger.evidence, log);
  for (const WorkersEnd& end : ends_in(log, "worker.died", ledger.evidence.wall_clock)) {
    ledger.deaths.push_back({end.line, end.pid, end.at});
  }
}

void add_crashes(Evidence& evidence) {
  for (const Trace& trace : evidence.traces) {
    if (trace.mark != Mark::kCrash) continue;
    Fault fault{"crash", trace.pid, trace.at, trace.at + 50 * kMillisecond, true};
    fault.inner = true;
    evidence.faults.push_back(fault);
  }
}

void add_operations(Ledger& ledger) {
  Evidence& evidence = ledger.evidence;
  // Queues of the tasks that ran, by tag: a task may run before it is moved, and again after that.
  std::map<std::string, std::set<std::string>> queues;
  for (const Trace& trace : evidence.traces) queues[trace.tag].insert(trace.queue);
  const std::set<std::string> expired = may_have_expired(ledger, queues);
  for (const Operation& operation : ledger.operations) {
    if (operation.landed == Landed::kNo) continue;
    const bool dead = operation.act == Act::kRetryDead || operation.act == Act::kDiscard;
    if (operation.act == Act::kCancel) evidence.excused.insert(operation.tag);
    if (operation.act == Act::kCancelDone) evidence.gone.insert(operation.tag);
    // A task may have died between this query and the command's own.
    const bool more = dead && operation.chosen > operation.tasks.size();
    std::set<std::string> tags;
    for (const TaskRow& task : operation.tasks) tags.insert(task.tag);
    for (const auto& [tag, ran_in] : queues) {
      if (ran_in.count(operation.queue) != 0 && (more || operation.act == Act::kMove))
        tags.insert(tag);
    }
    if (more) tags.insert(expired.begin(), expired.end());
    for (const std::string& tag : tags) {
      if (operation.act == Act::kDiscard) evidence.gone.insert(tag);
      if (operation.act == Act::kRetryDead)
        evidence.revived[tag].emplace_back(operation.begin, operation.end);
      // A dead task of a resized queue comes back under another id.
      if (!dead || operation.act == Act::kRetryDead) evidence.renamed.insert(tag);
    }
  }
  for (const TaskRow& row : ledger.dead) {
    const auto item = item_of(ledger.draw, row.tag);
    if (row.cause == "expired" && item && item->expires_in.count() != 0)
      evidence.excused.insert(row.tag);
  }
}

}  // namespace allot::fault

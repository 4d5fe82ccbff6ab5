// SPDX-License-Identifier: Apache-2.0
#include "steward/other_servers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "log/log.h"
#include "queue/model/server_change.h"
#include "thread/deaf_thread.h"

namespace allot::steward {
namespace {

constexpr std::chrono::seconds kPollInterval{3};
// Galera accepts only writes on which its nodes agree, and its nodes share the row of the term.
bool takes_writes(const db::ServerAnswer& answer) {
  return answer.connection && !answer.connection->standing().galera;
}

std::uint64_t term_of(const db::ServerAnswer& answer) {
  return answer.connection->standing().term.value_or(0);
}

bool is_known(const std::vector<queue::Notice>& all, const std::string& where) {
  return std::any_of(all.begin(), all.end(),
                     [&](const queue::Notice& one) { return one.subject == where; });
}

queue::Notice notice_of(const db::ServerAnswer& answer, std::uint64_t highest) {
  const std::string term = std::to_string(term_of(answer));
  const std::string detail = term_of(answer) < highest
                                 ? "it accepts writes with term " + term +
                                       ", and the writer has term " + std::to_string(highest) +
                                       "; make it read-only, or attach it as a replica"
                                 : "it accepts writes, and so does another server with term " +
                                       term + "; make one read-only, or run 'allot promote'";
  return {queue::NoticeKind::kSecondWriter, answer.where, detail};
}

// A failure here repeats shortly, and the notice stays.
void mark(db::ServerAnswer& answer, std::uint64_t highest) {
  try {
    queue::mark_superseded(*answer.connection, highest);
  } catch (const db::DbError& error) {
    log::warn("database.mark_failed", {{"server", answer.where}, {"error", error.what()}});
  }
}

// The term of a promoted server grows here, even if no worker connects: from then on its
// predecessor is recognised when it comes back. A mark may be left from the time before the server
// was promoted again.
void confirm(db::ServerAnswer& answer) {
  try {
    const bool changed = queue::note_server(*answer.connection);
    if (changed || answer.connection->standing().superseded_by != 0) {
      queue::clear_superseded(*answer.connection);
    }
    if (changed) answer.connection->require_writer();
  } catch (const db::DbError& error) {
    log::warn("database.term_failed", {{"server", answer.where}, {"error", error.what()}});
  }
}

}  // namespace

OtherServers::OtherServers(db::ConnectOptions options) : options_(std::move(options)) {
  if (!options_.socket.empty() || options_.servers.size() < 2) return;
  thread_ = deaf_thread([this](const std::stop_token& stop) {
    do {
      poll();
    } while (!stopped_within(stop, kPollInterval));
  });
}

std::vector<queue::Notice> OtherServers::second_writers() {
  const MutexLock held(mutex_);
  return found_;
}

void OtherServers::poll() {
  auto answers = db::ask_servers(options_, db::Asked::kAll, db::kAskWithin);
  const std::uint64_t highest = db::learn_highest(answers, *options_.memory);
  std::vector<queue::Notice> found;
  const auto writers =
      std::count_if(answers.begin(), answers.end(), [&](const db::ServerAnswer& answer) {
        return takes_writes(answer) && term_of(answer) >= highest;
      });
  for (db::ServerAnswer& answer : answers) {
    if (!takes_writes(answer)) continue;
    if (term_of(answer) < highest) {
      mark(answer, highest);
    } else if (writers == 1) {
      confirm(answer);
      continue;
    }
    found.push_back(notice_of(answer, highest));
  }
  const MutexLock held(mutex_);
  for (const queue::Notice& one : found) {
    if (is_known(found_, one.subject)) continue;
    log::warn("database.second_writer", {{"server", one.subject}, {"text", one.detail}});
  }
  found_ = std::move(found);
}

}  // namespace allot::steward

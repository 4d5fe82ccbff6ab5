// SPDX-License-Identifier: Apache-2.0
#include "process/session.h"

#include <algorithm>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/migrate.h"
#include "log/log.h"
#include "meter/record.h"
#include "process/stop_request.h"
#include "queue/model/server_change.h"
#include "queue/server/rehearsal.h"

namespace allot::process {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstWait{20};
constexpr milliseconds kMostWait{500};
constexpr std::uint32_t kLogEvery = 30;  // failures between two log lines of an outage
constexpr unsigned kDeadlock = 1213;
constexpr unsigned kLost = 2013;
// A worker without work only reads: without this check it would wait forever on a former primary
// that was demoted and left alone (S2).
constexpr Nanos kPollInterval = 5 * kSecond;
// The steward polls as often, and its poll takes time.
constexpr Nanos kPageAge = kSecond;

milliseconds jittered(milliseconds wait) {
  thread_local std::minstd_rand dice{std::random_device{}()};
  return wait / 2 + milliseconds(dice() % static_cast<unsigned>(wait.count() / 2 + 1));
}

meter::Event event_of(const db::DbError& error) {
  return error.number() == kDeadlock ? meter::Event::kDeadlocks : meter::Event::kLockWaits;
}

// S48: the first worker that notices starts the wait for all.
void note_change(db::Connection& fresh) {
  if (!queue::note_server(fresh)) return;
  queue::clear_superseded(fresh);
  fresh.require_writer();  // the host learns the new term
  log::warn("database.changed", {{"server", fresh.where()}});
}

}  // namespace

db::Connection connect(const db::ConnectOptions& options) {
  db::Connection connection(options);
  for (const std::string& why : connection.passed_over()) {
    log::warn("database.skipped", {{"server", connection.where()}, {"text", why}});
  }
  return connection;
}

std::chrono::seconds lock_wait(std::chrono::microseconds ttl) {
  using std::chrono::seconds;
  return std::clamp(std::chrono::duration_cast<seconds>(ttl / 3), seconds(1), seconds(5));
}

queue::FormerConnection former_connection(const ipc::Slot& slot, std::size_t which) {
  return {.id = slot.connection_ids[which].load(),
          .server_id = slot.server_ids[which],
          .uptime = std::chrono::seconds(slot.server_uptimes[which]),
          .age = std::chrono::nanoseconds(boot_ns() - slot.connected_ns[which])};
}

db::Connection& Session::connection() {
  const Nanos asked = boot_ns();  // before the statement: its result is not older
  if (!connection_) {
    db::Connection fresh = connect(options_);
    if (server_id_ != 0 && fresh.server_id() != server_id_) queue::rehearse(fresh, options_);
    server_id_ = fresh.server_id();
    if (notes_changes_) note_change(fresh);
    end_former(fresh);
    const auto uptime = queue::server_uptime(fresh);
    connection_.emplace(std::move(fresh));
    connected_ns_ = boot_ns();
    slot_.connected(place_, *connection_, uptime);
    slot_.raw().database_unreachable = 0;
    log::info("database.connected",
              {{"server", connection_->where()}, {"connection", connection_->id()}});
  } else if (writer_was_seen(asked)) {
    return *connection_;
  } else {
    connection_->require_writer();
  }
  writer_seen_ns_ = asked;
  const auto poll = page_ != nullptr ? page_->read() : std::nullopt;
  if (poll) steward_ = poll->source;
  return *connection_;
}

bool Session::writer_was_seen(Nanos now) {
  if (now - writer_seen_ns_ < kPollInterval) return true;
  const auto poll = page_ != nullptr ? page_->read() : std::nullopt;
  if (!poll || !(poll->source == steward_) || !is_here(*poll)) return false;
  writer_seen_ns_ = std::max(writer_seen_ns_, std::min<Nanos>(poll->writer_ns, now));
  return now - writer_seen_ns_ < kPollInterval + kPageAge;
}

peer::PollSource Session::source() const {
  if (!connection_) return {};
  return {connection_->server_id(), connection_->standing().term.value_or(0), generation_};
}

bool Session::is_here(const peer::Poll& poll) const {
  if (!connection_) return false;
  if (mutant::removed("page_other_server")) return true;
  const peer::PollSource here = source();
  return poll.source.server_id == here.server_id && poll.source.term == here.term &&
         poll.polled_ns > connected_ns_;
}

std::optional<peer::Poll> Session::steward_poll() {
  auto poll = page_ != nullptr ? page_->read() : std::nullopt;
  if (!poll) return std::nullopt;
  if (!(poll->source == steward_)) {
    writer_seen_ns_ = 0;
    call([](db::Connection&) {});
  }
  if (!is_here(*poll)) return std::nullopt;
  return poll;
}

// The last call of the former connection may still be on its way, or wait in the server for a lock:
// it must not be executed after calls of this one. Otherwise a released lease would be taken again
// without a holder.
void Session::end_former(db::Connection& fresh) {
  const queue::FormerConnection former = former_connection(slot_.raw(), place_);
  if (former.id == 0) return;
  queue::kill_connections(fresh, {&former, 1});
}

db::Connection& Session::present() {
  if (!connection_) {
    throw db::DbError(kLost, "the connection was lost before", db::Phase::kConnect);
  }
  return *connection_;
}

// The class of the error says whether an open connection still works: only a lost one is dropped.
void Session::note(const db::DbError& error) {
  if (error.error_class() == db::ErrorClass::kRetryable) {
    slot_.count(event_of(error));
  } else if (error.error_class() == db::ErrorClass::kGone && connection_) {
    give_up_connection();
    log::warn("database.lost",
              {{"class", db::name_of(error.error_class())}, {"error", error.what()}});
  }
}

void Session::give_up_connection() {
  if (connection_) ++generation_;
  connection_.reset();
}

void Session::handle(const db::DbError& error) {
  ++failures_;
  if (error.error_class() == db::ErrorClass::kRetryable) {
    slot_.count(event_of(error));
    log::warn("database.retry", {{"error", error.what()}});
  } else {
    // Whatever happened, a new connection has the best-known state.
    give_up_connection();
    slot_.raw().database_unreachable = 1;
    if (failures_ == 1 || failures_ % kLogEvery == 0) {
      log::warn("database.lost", {{"class", db::name_of(error.error_class())},
                                  {"failures", failures_},
                                  {"error", error.what()}});
    }
  }
  back_off();
}

void Session::back_off() {
  const milliseconds wait =
      jittered(std::min(kMostWait, kFirstWait * (1 << std::min(failures_ - 1, 10U))));
  if (!leaving()) {
    wait_asked(wait);
    return;
  }
  if (!leaving_since_ns_) leaving_since_ns_ = mono_ns();
  const auto patience_ns = in_nanos(patience_);
  if (mono_ns() - *leaving_since_ns_ > patience_ns) throw GaveUp();
  std::this_thread::sleep_for(wait);
}

void require_fit(Session& session, const db::ConnectOptions& options) {
  session.call([&](db::Connection& db) {
    db::require_schema(db);
    queue::rehearse(db, options);
    note_change(db);
  });
  session.note_changes();
}

}  // namespace allot::process

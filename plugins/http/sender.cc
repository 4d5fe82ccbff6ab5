// SPDX-License-Identifier: Apache-2.0
#include "sender.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "trouble.h"

namespace http_plugin {
namespace {

constexpr std::size_t kMostIdle = 128;

}  // namespace

Sender::Sender(const Targets& targets, Lookup lookup)
    : connector_(targets.allowed, std::move(lookup)) {
  const auto prepare = [this](const Origin& origin, const TlsFiles& files) {
    if (origin.tls) tls_.try_emplace({origin, files}, origin, files);
  };
  for (const auto& [type, target] : targets.by_type) prepare(target.url.origin, target.tls);
  if (!targets.jobs) return;
  // A job may use any permitted origin.
  for (const Origin& origin : targets.allowed.entries()) prepare(origin, targets.jobs->request.tls);
}

// Moves expired connections out, so that they are closed without the lock.
void Sender::drop_old(IdleList& dropped) {
  const auto now = Clock::now();
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto next = std::next(at);
    if (at->until <= now) dropped.splice(dropped.end(), idle_, at);
    at = next;
  }
  while (idle_.size() > kMostIdle) dropped.splice(dropped.end(), idle_, std::prev(idle_.end()));
}

std::unique_ptr<Connection> Sender::take(const Place& place) {
  // Connections are checked and closed without the lock, because other threads wait for it.
  std::unique_ptr<Connection> connection;
  do {
    connection.reset();
    IdleList dropped;
    const std::lock_guard lock(mutex_);
    drop_old(dropped);
    const auto found = std::find_if(idle_.begin(), idle_.end(),
                                    [&place](const Idle& idle) { return idle.place == place; });
    if (found == idle_.end()) return nullptr;
    dropped.splice(dropped.end(), idle_, found);
    connection = std::move(found->connection);
  } while (!connection->is_quiet());
  return connection;
}

void Sender::keep(Place place, std::unique_ptr<Connection> connection,
                  std::chrono::milliseconds time) {
  IdleList dropped;
  const std::lock_guard lock(mutex_);
  idle_.push_front({std::move(place), std::move(connection), Clock::now() + time});
  drop_old(dropped);
}

std::unique_ptr<Connection> Sender::connect(const Target& target, Watch& watch) {
  auto connection =
      std::make_unique<Connection>(connector_.connect(target.url.origin, target.limits, watch));
  if (target.url.origin.tls) {
    const Guard guard(watch, connection->socket());
    connection->secure(tls_.at({target.url.origin, target.tls}));
  }
  return connection;
}

Answer Sender::send(const Target& target, const std::string& head, std::string_view body,
                    Watch& watch) {
  Place place(target.url.origin, target.tls);
  auto connection = take(place);
  std::optional<Answer> answer;
  if (connection != nullptr) {
    // A target may close an idle connection at any time, even while the request is sent. In this
    // case the request is repeated once over a new connection.
    try {
      const Guard guard(watch, connection->socket());
      answer = connection->ask(head, body);
    } catch (const Trouble&) {
      if (connection->was_heard() || watch.end() != Watchdog::End::kNone) throw;
    }
  }
  if (!answer) {
    connection = connect(target, watch);
    const Guard guard(watch, connection->socket());
    answer = connection->ask(head, body);
  }
  // A connection shut down by the watch does not mark the end of an answer, and is not reused.
  const bool is_over = watch.end() != Watchdog::End::kNone;
  if (is_over && answer->ends_with_connection) {
    throw Trouble("the answer broke off", Trouble::Kind::kFailed, answer->status);
  }
  const bool keeps = target.keep_alive.count() > 0 && connection->may_be_kept() && !is_over;
  if (keeps) keep(std::move(place), std::move(connection), target.keep_alive);
  return *answer;
}

}  // namespace http_plugin

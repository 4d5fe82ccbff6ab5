// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <algorithm>
#include <utility>

namespace http_plugin {
namespace {

constexpr std::size_t kMostIdle = 128;

}  // namespace

// Moves expired connections out, so that they are closed without the lock.
void Pool::drop_old(List& dropped) {
  const auto now = Clock::now();
  for (auto at = idle_.begin(); at != idle_.end();) {
    const auto next = std::next(at);
    if (at->until <= now) dropped.splice(dropped.end(), idle_, at);
    at = next;
  }
  while (idle_.size() > kMostIdle) dropped.splice(dropped.end(), idle_, std::prev(idle_.end()));
}

std::unique_ptr<Connection> Pool::take(const std::string& target) {
  // Connections are checked and closed without the lock, because other threads wait for it.
  while (auto connection = take_any(target)) {
    if (connection->is_quiet()) return connection;
  }
  return nullptr;
}

std::unique_ptr<Connection> Pool::take_any(const std::string& target) {
  List dropped;
  const std::lock_guard lock(mutex_);
  drop_old(dropped);
  const auto found = std::find_if(idle_.begin(), idle_.end(),
                                  [&target](const Idle& idle) { return idle.target == target; });
  if (found == idle_.end()) return nullptr;
  dropped.splice(dropped.end(), idle_, found);
  return std::move(found->connection);
}

void Pool::keep(const std::string& target, std::unique_ptr<Connection> connection,
                std::chrono::milliseconds time) {
  List dropped;
  const std::lock_guard lock(mutex_);
  idle_.push_front({target, std::move(connection), Clock::now() + time});
  drop_old(dropped);
}

}  // namespace http_plugin

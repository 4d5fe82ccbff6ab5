// SPDX-License-Identifier: Apache-2.0
#include "watchdog.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "thread/deaf_thread.h"

namespace http_plugin {
namespace {

constexpr std::chrono::milliseconds kTick{100};  // interval of the stop check

}  // namespace

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    leaves_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::add(Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    thread_ = allot::deaf_thread([this] { run(); });
  }
  entry.place = entries_.size();
  entries_.push_back(&entry);
  // The thread wakes up at each tick anyway, and most deadlines are later.
  if (entry.deadline < next_) changed_.notify_one();
}

void Watchdog::remove(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  entries_.back()->place = entry.place;
  std::swap(entries_[entry.place], entries_.back());
  entries_.pop_back();
}

void Watchdog::run() {
  std::unique_lock lock(mutex_);
  while (!leaves_) {
    if (entries_.empty()) {
      next_ = Clock::time_point::max();
      changed_.wait(lock);
      continue;
    }
    const auto now = Clock::now();
    check_all(now);
    next_ = now + kTick;
    for (const Entry* entry : entries_) {
      if (entry->end == End::kNone) next_ = std::min(next_, entry->deadline);
    }
    changed_.wait_until(lock, next_);
  }
}

void Watchdog::check_all(Clock::time_point now) {
  for (Entry* entry : entries_) {
    if (entry->end != End::kNone) continue;
    if (now >= entry->deadline) {
      entry->end = End::kTimeout;
    } else if (entry->must_stop()) {
      entry->end = End::kStop;
    } else {
      continue;
    }
    if (entry->socket) ::shutdown(entry->socket->get(), SHUT_RDWR);
  }
}

Watch::Watch(Watchdog& watchdog, Clock::time_point deadline, std::function<bool()> must_stop)
    : watchdog_(watchdog), entry_{deadline, std::move(must_stop)} {
  watchdog_.add(entry_);
}

Watch::~Watch() {
  watchdog_.remove(entry_);
}

Guard::Guard(Watch& watch, std::shared_ptr<const UniqueFd> socket) : watch_(watch) {
  const std::lock_guard lock(watch_.watchdog_.mutex_);
  if (watch_.end() != Watchdog::End::kNone) ::shutdown(socket->get(), SHUT_RDWR);
  watch_.entry_.socket = std::move(socket);
}

Guard::~Guard() {
  const std::lock_guard lock(watch_.watchdog_.mutex_);
  watch_.entry_.socket.reset();
}

}  // namespace http_plugin

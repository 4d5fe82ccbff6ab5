// SPDX-License-Identifier: Apache-2.0
#include "steward/host_poll.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/fixed_text.h"
#include "log/log.h"
#include "peer/doorbell.h"
#include "queue/model/catalog.h"
#include "thread/deaf_thread.h"

namespace allot::steward {
namespace {

// Place of its connection in the slot; the first place is for the chores.
constexpr std::size_t kPollPlace = 1;
constexpr Nanos kPollAfterError = 10 * kSecond;
// With a short lease, polls are still not more frequent than its holder's renewals.
constexpr Nanos kLongestBetween = 5 * kSecond;

peer::StandingLease entry_of(std::uint64_t epoch, const std::string& expire_at, bool stale,
                             queue::Partition partition) {
  peer::StandingLease entry{};
  entry.epoch = epoch;
  entry.queue_id = partition.queue_id;
  entry.partition_no = partition.partition_no;
  entry.flags = stale ? peer::StandingLease::kStale : 0;
  copy_text(entry.expire_at, expire_at);
  return entry;
}

void add(peer::Poll& poll, const peer::StandingLease& entry) {
  if (poll.count < peer::Poll::kMost) poll.standing[poll.count++] = entry;
}

bool is_published(const peer::Poll& poll, const peer::StandingLease& entry) {
  const auto end = poll.standing.begin() + poll.count;
  return std::find(poll.standing.begin(), end, entry) != end;
}

}  // namespace

HostPoll::HostPoll(db::ConnectOptions options, process::SlotWriter& slot, ipc::Board& board,
                   std::chrono::milliseconds ttl, std::chrono::milliseconds patience, Queues queues,
                   const std::string& page)
    : session_(std::move(options), slot, patience, kPollPlace),
      board_(board),
      ttl_ns_(in_nanos(ttl)),
      queues_(std::move(queues)),
      leases_(ttl_ns_),
      detached_(ttl_ns_),
      page_(page) {
  session_.note_changes();
  thread_ = deaf_thread([this](std::stop_token stop) { run(std::move(stop)); });
}

void HostPoll::run(std::stop_token stop) {
  stop_ = std::move(stop);
  for (Nanos next = 0; !stop_.stop_requested();) {
    const Nanos now = boot_ns();
    if (now < next) {
      static_cast<void>(stopped_within(stop_, std::chrono::nanoseconds(next - now)));
      continue;
    }
    try {
      next = poll();
    } catch (const process::GaveUp&) {
      return;
    } catch (const db::DbError& error) {
      log::error("host_poll.failed", {{"error", error.what()}, {"fallback", "workers poll"}});
      page_.withdraw();
      next = boot_ns() + kPollAfterError;
    }
  }
}

// Workers poll themselves while the server does not answer here.
template <typename Verb>
auto HostPoll::ask(Verb&& verb) {
  auto answer = session_.call_while(
      [this] {
        page_.withdraw();
        return !stop_.stop_requested();
      },
      std::forward<Verb>(verb));
  if (!answer) throw process::GaveUp();
  return std::move(*answer);
}

std::vector<std::uint32_t> HostPoll::queue_ids() {
  std::vector<std::uint32_t> ids = queues_.ids;
  if (!queues_.made) return ids;
  for (const auto& queue : ask([](db::Connection& db) { return queue::made_queues(db); })) {
    ids.push_back(queue.queue_id);
  }
  return ids;
}

Nanos HostPoll::poll() {
  const Nanos sent = boot_ns();
  const auto ids = queue_ids();
  const auto generation = [this] { return session_.generation(); };
  leases_.poll(
      [&] { return ask([&](db::Connection& db) { return queue::LeaseStore::watch(db, ids); }); },
      generation);
  detached_.poll(
      [&] { return ask([&](db::Connection& db) { return queue::DetachedStore::watch(db, ids); }); },
      generation);
  publish(sent);
  return std::min({leases_.next_poll_ns(), detached_.next_poll_ns(), boot_ns() + kLongestBetween});
}

void HostPoll::publish(Nanos sent) {
  peer::Poll poll;
  poll.source = session_.source();
  poll.polled_ns = sent;
  poll.writer_ns = session_.writer_seen_ns();
  poll.every_ns = std::min(ttl_ns_ / 6, kLongestBetween);
  while (const auto one = leases_.take()) {
    add(poll, entry_of(one->observed.epoch, one->observed.expire_at, one->stale,
                       one->observed.partition));
  }
  while (const auto one = detached_.take()) {
    const queue::TaskId& id = one->observed.id;
    auto entry = entry_of(one->observed.epoch, one->observed.expire_at, one->stale, id.partition);
    entry.flags |= peer::StandingLease::kDetached;
    entry.prio = id.prio;
    entry.first_key = id.first_key;
    add(poll, entry);
  }
  if (page_.publish(poll)) ring(poll);
  published_ = poll;
}

// Rings for entries that are new since the last poll: a worker takes them over at once.
void HostPoll::ring(const peer::Poll& poll) {
  peer::Ringer::Tasks queues;
  for (std::size_t at = 0; at < poll.count; ++at) {
    if (!is_published(published_, poll.standing[at])) queues[poll.standing[at].queue_id] = 1;
  }
  peer::Ringer(board_).ring(queues);
}

}  // namespace allot::steward

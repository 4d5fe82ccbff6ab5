// SPDX-License-Identifier: Apache-2.0
#include "bench/bare_starter.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

#include "base/clock.h"
#include "queue/verbs/block.h"

namespace allot::bench {

BareStarter::BareStarter(const db::ConnectOptions& connect, const queue::QueueInfo& queue,
                         std::string starts_file)
    : db_(connect),
      store_(queue::make_holder("bench", ""), std::chrono::seconds(60)),
      queue_id_(queue.queue_id),
      starts_file_(std::move(starts_file)),
      event_(eventfd(0, EFD_CLOEXEC)),
      socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
      thread_([this] { run(); }) {}

BareStarter::~BareStarter() {
  signal(kEnd);
  thread_.join();
}

void BareStarter::signal(Signal what) const {
  const std::uint64_t value = what;
  (void)!write(event_.get(), &value, sizeof value);
}

void BareStarter::run() {
  std::uint64_t value = 0;
  while (read(event_.get(), &value, sizeof value) == sizeof value && value < kEnd) {
    try {
      start_one();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the floor of latency: %s\n", error.what());
    }
  }
}

void BareStarter::start_one() {
  const auto found = queue::LeaseStore::scout(db_, {&queue_id_, 1});
  if (found.empty()) return;
  const auto block = store_.lease(db_, found.front(), {});
  if (!block) return;
  const std::int64_t started_ns = static_cast<std::int64_t>(mono_ns());
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  starts_file_.copy(to.sun_path, sizeof to.sun_path - 1);
  (void)sendto(socket_.get(), &started_ns, sizeof started_ns, 0,
               reinterpret_cast<const sockaddr*>(&to), sizeof to);
  std::vector<queue::Finished> finished;
  for (const queue::Task& task : block->tasks) finished.push_back({task.key, {}});
  queue::ack_and_release(db_, block->lease, finished);
}

}  // namespace allot::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "db/worker/fixture.h"
#include "ipc/board.h"
#include "worker/block_loop.h"
#include "worker/connect.h"

namespace allot::worker {

inline constexpr std::chrono::milliseconds kTtl{1200};

// What one process has of its own, and the board of its host.
class LoopWorker {
 public:
  LoopWorker(db::ConnectOptions options, const ServedQueue& queue,
             const plugin_host::Registry& registry, ipc::Board& board)
      : options_(std::move(options)),
        leases_(queue::make_holder("test", "/"), kTtl),
        tasks_(leases_.holder()),
        detached_(leases_.holder(), kTtl),
        slot_(*raw_slot_, -1),
        session_(options_, slot_, std::chrono::milliseconds(500)),
        keeper_(leases_, detached_, options_, slot_, board),
        recovery_(session_, detached_, settings_, {queue.info}, board),
        finder_(session_, leases_, keeper_, slot_, board, 0, {queue}),
        runner_(session_, tasks_, detached_, registry, keeper_, slot_, settings_),
        loop_(session_, finder_, keeper_, slot_, tasks_, runner_, recovery_, turn_) {}

  std::optional<queue::Block> find() { return finder_.next(); }
  void work(queue::Block block) { loop_.work(std::move(block)); }
  [[nodiscard]] const ipc::Slot& slot() const { return *raw_slot_; }
  // As of a drain.
  void use(peer::Tally* tally) { slot_.use(tally); }

 private:
  const db::ConnectOptions options_;
  const config::Settings settings_;
  queue::LeaseStore leases_;
  queue::TaskStore tasks_;
  queue::DetachedStore detached_;
  std::unique_ptr<ipc::Slot> raw_slot_ = std::make_unique<ipc::Slot>();
  SlotWriter slot_;
  Session session_;
  LeaseKeeper keeper_;
  Recovery recovery_;
  Finder finder_;
  TaskRun runner_;
  CarefulTurn turn_{support::Database::shared().socket() + ".careful"};  // of their instance
  BlockLoop loop_;
};

class LoopTest : public WorkerTest {
 protected:
  explicit LoopTest(const std::string& folder = ALLOT_PROBE_FOLDER,
                    const plugin_host::Sections& sections = {{"probe",
                                                              {{"output", "/nonexistent"}}}})
      : registry_(plugin_host::Registry::load(folder, sections)),
        board_(std::make_unique<ipc::Board>()) {
    config_.name = "q";
  }

  std::unique_ptr<LoopWorker> worker() { return worker(queue_); }
  std::unique_ptr<LoopWorker> worker(const queue::QueueInfo& queue) {
    db::ConnectOptions options = this->options();
    options.connect_timeout = options.call_timeout = std::chrono::milliseconds(2'000);
    options.lock_wait = lock_wait(kTtl);
    return std::make_unique<LoopWorker>(options, ServedQueue{queue, &config_}, registry_, *board_);
  }
  void put_tasks(std::uint32_t partition_no, std::uint64_t count,
                 const std::string& type = "test.ok") {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_.queue_id) + ", " + std::to_string(partition_no) +
                ", 1, seq, '" + type + "', '2' FROM seq_1_to_" + std::to_string(count));
  }
  std::string tasks_left() { return value("SELECT COUNT(*) FROM task"); }

  config::Queue config_;
  plugin_host::Registry registry_;
  std::unique_ptr<ipc::Board> board_;
};

}  // namespace allot::worker

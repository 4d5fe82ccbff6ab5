// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/worker/fixture.h"
#include "db/worker/parts.h"
#include "process/session.h"
#include "support/temp_dir.h"
#include "worker/block/lease_run.h"
#include "worker/job/executor.h"

namespace allot::worker {

inline constexpr std::chrono::milliseconds kTtl{1200};     // for lost holders
inline constexpr std::chrono::milliseconds kOwnTtl{4000};  // for the workers

// Calls an observer in the block loop's thread, when all jobs of a block are started.
class ObservedExecutor final : public Executor {
 public:
  using Observer = std::function<void(const Executor&)>;

  template <typename... Args>
  explicit ObservedExecutor(const Observer& observer, Args&&... args)
      : Executor(std::forward<Args>(args)...), observer_(observer) {}

  [[nodiscard]] bool quick() const override {
    if (observer_) observer_(*this);
    return Executor::quick();
  }

 private:
  const Observer& observer_;
};

// State of one process, and the board of its host. Runs `concurrency` tasks at a time.
class LoopWorker {
 public:
  LoopWorker(const db::ConnectOptions& options, const ServedQueue& queue,
             const plugin_host::Registry& registry, ipc::Board& board, std::size_t concurrency = 1,
             Nanos short_ns = Executor::kShort)
      : LoopWorker(options, ServedQueues(std::vector{queue}), {queue.info}, registry, board,
                   concurrency, short_ns) {}
  LoopWorker(const db::ConnectOptions& options, ServedQueues queues,
             const plugin_host::Registry& registry, ipc::Board& board, std::size_t concurrency)
      : LoopWorker(options, std::move(queues), {}, registry, board, concurrency, Executor::kShort) {
  }
  LoopWorker(const db::ConnectOptions& options, ServedQueues queues,
             std::vector<queue::QueueInfo> infos, const plugin_host::Registry& registry,
             ipc::Board& board, std::size_t concurrency, Nanos short_ns)
      : parts_(options, slot_, registry, board, kOwnTtl, kPatience),
        recovery_(parts_.session, parts_.stores.detached, parts_.settings, std::move(infos), slot_,
                  board),
        finder_(parts_.session, parts_.stores.leases, parts_.keeper, slot_, board, 0,
                std::move(queues),
                [&registry](std::string_view type) { return registry.find(type) != nullptr; }),
        executor_(all_started_, slot_, make_runners(concurrency, options, registry), short_ns),
        loop_{.session = parts_.session,
              .finder = finder_,
              .keeper = parts_.keeper,
              .slot = slot_,
              .executor = executor_,
              .registry = registry,
              .careful_turn = turn_,
              .recovery = recovery_,
              .lifetime = lifetime_,
              .on_unknown = [this](const queue::TaskId& id, const std::string& type) {
                if (on_unknown_) on_unknown_(id, type);
              }} {}

  // The found block may start at its queue's rate, once work() gets it.
  std::optional<queue::Block> find() {
    auto found = finder_.next();
    if (!found) return std::nullopt;
    grant_ = found->grant;
    cap_part_ = found->cap_part;
    deferred_ = found->deferred;
    return std::move(found->block);
  }
  using OnUnknown = std::function<void(const queue::TaskId&, const std::string& type)>;
  void on_unknown(OnUnknown told) { on_unknown_ = std::move(told); }
  // For a worker that runs several tasks at a time.
  void all_started(ObservedExecutor::Observer told) { all_started_ = std::move(told); }
  process::Session& session() { return parts_.session; }
  void work(queue::Block block) {
    LeasedBlock found{std::move(block), std::exchange(grant_, {}), cap_part_, deferred_};
    static_cast<void>(LeaseRun(loop_, std::move(found)).run());
  }
  [[nodiscard]] const ipc::Slot& slot() const { return *raw_slot_; }
  // As in a drain.
  void use(peer::DrainBudget* budget) { slot_.use(budget); }

 private:
  static constexpr std::chrono::milliseconds kPatience{500};

  std::deque<JobRunner>& make_runners(std::size_t threads, const db::ConnectOptions& options,
                                      const plugin_host::Registry& registry) {
    for (std::size_t i = 0; i < threads; ++i) {
      auto& own =
          threads == 1 ? parts_.session : sessions_.emplace_back(options, slot_, kPatience, 2 + i);
      runners_.emplace_back(own, parts_.stores.detached, registry, parts_.keeper, slot_,
                            parts_.settings, SlotRange::of(i, threads));
    }
    return runners_;
  }

  std::unique_ptr<ipc::Slot> raw_slot_ = std::make_unique<ipc::Slot>();
  process::SlotWriter slot_{*raw_slot_, -1};
  WorkerParts parts_;
  Recovery recovery_;
  Finder finder_;
  ObservedExecutor::Observer all_started_;
  std::deque<process::Session> sessions_;
  std::deque<JobRunner> runners_;
  ObservedExecutor executor_;
  const config::Pool pool_;
  process::Lifetime lifetime_{pool_, 0};
  CarefulTurn turn_{support::Database::shared().socket() + ".careful"};  // of the instance
  OnUnknown on_unknown_;
  Grant grant_;
  std::uint32_t cap_part_ = 0;
  bool deferred_ = false;
  const BlockParts loop_;
};

// First of the base classes: the plugin receives its file name.
struct OutputFile {
  support::TempDir output_folder_;
  std::string output_ = output_folder_ / "output";
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
  std::unique_ptr<LoopWorker> worker(const queue::QueueInfo& queue, std::size_t concurrency = 1,
                                     Nanos short_ns = Executor::kShort) {
    db::ConnectOptions options = this->options();
    options.connect_timeout = options.call_timeout = std::chrono::milliseconds(2'000);
    options.lock_wait = process::lock_wait(kTtl);
    return std::make_unique<LoopWorker>(options, ServedQueue{queue, &config_}, registry_, *board_,
                                        concurrency, short_ns);
  }
  void put_tasks(std::uint32_t partition_no, std::uint64_t count,
                 const std::string& type = "test.ok") {
    db_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
                std::to_string(queue_.queue_id) + ", " + std::to_string(partition_no) +
                ", 1, seq, '" + type + "', '2' FROM " + support::numbers(1, count));
  }
  // A task that is due from now on.
  void put_now(std::uint32_t partition_no) {
    db_.execute(
        "INSERT INTO task (queue_id, partition_no, run_key, type, payload) SELECT " +
        std::to_string(queue_.queue_id) + ", " + std::to_string(partition_no) +
        ", TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12, 'test.ok', ''");
  }
  std::string tasks_left() { return value("SELECT COUNT(*) FROM task"); }

  config::Queue config_;
  plugin_host::Registry registry_;
  std::unique_ptr<ipc::Board> board_;
};

}  // namespace allot::worker

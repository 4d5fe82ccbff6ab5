// SPDX-License-Identifier: Apache-2.0
// Promise 3: a worker without its lease changes nothing but the deletion of tasks that it really
// finished. Every way to lose a lease against every verb. With a stall in between: stall_test.cc.
// Rule: S66.
#include "db/queue/fixture.h"

namespace allot::queue {
namespace {

struct Verb {
  const char* name;
  // True if the verb reports success.
  bool (*call)(Worker& worker, const Lease& lease, const Task& task);
};

bool yes(Fenced landed) {
  return landed == Fenced::kWritten;
}

const Verb kVerbs[] = {
    {"retry",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.retry(w.db, fence(lease, task), 3, std::chrono::seconds(1), kFailure));
     }},
    {"retry_and_release",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.retry(w.db, fence(lease, task), 3, std::chrono::seconds(1), kFailure,
                                Then::kRelease));
     }},
    {"retry_counted",
     [](Worker& w, const Lease& lease, const Task& task) {
       Ending ending{Ending::Verb::kRetry, 3, std::chrono::seconds(1), kFailure};
       ending.verdicts = 2;
       return yes(write(w.db, w.leases.holder(), fence(lease, task), ending));
     }},
    {"bury",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.bury(w.db, fence(lease, task), 3, kFailure));
     }},
    {"bury_and_release",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.bury(w.db, fence(lease, task), 3, kFailure, Then::kRelease));
     }},
    {"charge",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.charge(w.db, fence(lease, task), 3, kFailure));
     }},
    {"charge_and_release",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.charge(w.db, fence(lease, task), 3, kFailure, Then::kRelease));
     }},
    {"announce",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.announce(w.db, fence(lease, task), 3));
     }},
    {"snooze",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(
           w.tasks.snooze(w.db, fence(lease, task), task.attempt + 1, std::chrono::seconds(1)));
     }},
    {"refund", [](Worker& w, const Lease& lease,
                  const Task& task) { return yes(w.tasks.refund(w.db, fence(lease, task), 1)); }},
    {"bury_spent",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.tasks.bury_spent(w.db, fence(lease, task), task, kUnreported));
     }},
    {"defer", [](Worker& w, const Lease& lease,
                 const Task& task) { return yes(defer(w.db, lease, std::vector{task.key})); }},
    {"call_forward",
     [](Worker& w, const Lease& lease, const Task& task) {
       const DeferredTask one{task.key, task.id_key()};
       return yes(call_forward(w.db, lease, {task.key.prio, task.type, 0, 0}, {&one, 1}, false));
     }},
    {"detach",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.detached.detach(w.db, fence(lease, task), 1, {}));
     }},
    {"detach_concurrent",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(w.detached.detach(w.db, fence(lease, task), 1, {}, Then::kKeepLease));
     }},
    {"mark_called",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(mark_called(w.db, std::vector{fence(lease, task)}, true));
     }},
    {"clear_suspects", [](Worker& w, const Lease& lease,
                          const Task&) { return yes(mark_suspects(w.db, lease, {})); }},
    {"mark_suspects",
     [](Worker& w, const Lease& lease, const Task& task) {
       return yes(mark_suspects(w.db, lease, std::vector{Suspect{task.key, 1}}));
     }},
    {"renew",
     [](Worker& w, const Lease& lease, const Task&) { return w.leases.renew(w.db, lease); }},
    {"release",
     [](Worker& w, const Lease& lease, const Task&) { return w.leases.release(w.db, lease); }},
    {"ack_and_release",
     [](Worker& w, const Lease& lease, const Task&) { return ack_and_release(w.db, lease, {}); }},
};

struct Loss {
  const char* name;
  void (*happen)(Worker& worker, Worker& thief, const Lease& lease);
};

const Loss kLosses[] = {
    {"taken_over",
     [](Worker&, Worker& thief, const Lease& lease) { ASSERT_TRUE(thief.steal(lease.partition)); }},
    {"taken_over_and_released",
     [](Worker&, Worker& thief, const Lease& lease) {
       const auto block = thief.steal(lease.partition);
       ASSERT_TRUE(block && thief.leases.release(thief.db, block->lease));
     }},
    {"released", [](Worker& worker, Worker&,
                    const Lease& lease) { ASSERT_TRUE(worker.leases.release(worker.db, lease)); }},
    // Leased again by the same process: its holder id is right, only the epoch differs.
    {"released_and_leased_again",
     [](Worker& worker, Worker&, const Lease& lease) {
       ASSERT_TRUE(worker.leases.release(worker.db, lease));
       ASSERT_TRUE(worker.lease(lease.partition));
     }},
    {"reclaimed", [](Worker& worker, Worker&,
                     const Lease&) { ASSERT_EQ(worker.leases.reclaim(worker.db), 1U); }},
    // Each of the fence's three conditions stops a write by itself (S1).
    {"only_the_epoch_moved",
     [](Worker&, Worker& thief, const Lease&) {
       thief.db.execute("UPDATE q_lock_table SET epoch = epoch + 1 WHERE queue_id > 0");
     }},
    {"only_the_holder_changed",
     [](Worker&, Worker& thief, const Lease&) {
       thief.db.execute("UPDATE q_lock_table SET lock_by = lock_by + 1 WHERE queue_id > 0");
     }},
    {"only_the_state_is_free",
     [](Worker&, Worker& thief, const Lease&) {
       thief.db.execute("UPDATE q_lock_table SET state = 'FREE' WHERE queue_id > 0");
     }},
};

class FenceTest : public QueueTest,
                  public testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {
 protected:
  // A tried task and an untried one, under a lease with suspects. Each has a unique key, and a
  // request to end it.
  Block prepare() {
    put(2);
    observer_.execute(
        "INSERT INTO task_unique SELECT queue_id, CONCAT('k', run_key), partition_no, prio, "
        "run_key,"
        " 1, 0, NULL FROM task;"
        "INSERT INTO task_cancel SELECT queue_id, partition_no, prio, run_key, '',"
        " UTC_TIMESTAMP(6), 0 FROM task");
    Worker dead(connect());
    if (!dead.lease(partition_)) throw std::runtime_error("not free");
    auto block = worker_.steal(partition_);
    if (!block) throw std::runtime_error("not taken over");
    if (worker_.tasks.retry(worker_.db, fence(block->lease, block->tasks.at(0)), 1,
                            std::chrono::microseconds(0), kFailure) != Fenced::kWritten) {
      throw std::runtime_error("not retried");
    }
    observer_.execute("UPDATE task SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
    block->tasks = fetch(worker_.db, partition_, {});
    return std::move(*block);
  }

  Worker thief_{connect()};
};

TEST_P(FenceTest, ALostLeaseChangesNothing) {
  const Verb& verb = kVerbs[std::get<0>(GetParam())];
  const Loss& loss = kLosses[std::get<1>(GetParam())];
  const Block block = prepare();
  ASSERT_EQ(block.tasks.size(), 2U);
  loss.happen(worker_, thief_, block.lease);
  const std::string before = all_as_text();
  for (const Task& task : block.tasks) {
    EXPECT_FALSE(verb.call(worker_, block.lease, task));
  }
  EXPECT_EQ(all_as_text(), before);
}

INSTANTIATE_TEST_SUITE_P(VerbsAndLosses, FenceTest,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(kVerbs)),
                                          testing::Range<std::size_t>(0, std::size(kLosses))),
                         [](const auto& at) {
                           return std::string(kVerbs[std::get<0>(at.param)].name) + "__" +
                                  kLosses[std::get<1>(at.param)].name;
                         });

// The other half: with the lease each verb changes something, and a second call, as after a lost
// reply, neither changes it again nor reports a loss.
class RepeatTest : public FenceTest {};

TEST_P(RepeatTest, TwiceHasTheEffectOfOnce) {
  const Verb& verb = kVerbs[std::get<0>(GetParam())];
  const Block block = prepare();
  const std::string before = all_as_text();
  EXPECT_TRUE(verb.call(worker_, block.lease, block.tasks[1]));
  const std::string once = all_as_text();
  EXPECT_NE(once, before);
  const bool again = verb.call(worker_, block.lease, block.tasks[1]);
  if (std::string(verb.name) == "renew") {
    EXPECT_TRUE(again);
    return;  // a second renewal extends it again, as it should
  }
  const bool ends_lease = std::string(verb.name).find("release") != std::string::npos;
  EXPECT_EQ(again, !ends_lease) << "only what ended the lease cannot tell the two cases apart";
  EXPECT_EQ(all_as_text(), once);
}

INSTANTIATE_TEST_SUITE_P(Verbs, RepeatTest,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(kVerbs)),
                                          testing::Values<std::size_t>(0)),
                         [](const auto& at) { return kVerbs[std::get<0>(at.param)].name; });

// S6: a finished task is finished, whichever worker has the partition now; and nothing else
// changes.
TEST_F(QueueTest, AckNeedsNoLeaseButItsReleaseDoes) {
  put(3);
  const Block block = must_lease();
  Worker thief(connect());
  ASSERT_TRUE(thief.steal(partition_));
  const std::string leases = leases_as_text();
  std::vector<Finished> done{finished(block.tasks[0])};
  ack(worker_.db, partition_, done);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 2U);
  done = {finished(block.tasks[1])};
  EXPECT_FALSE(ack_and_release(worker_.db, block.lease, done));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
  EXPECT_EQ(leases_as_text(), leases);
  // Twice, as after a lost reply.
  ack(worker_.db, partition_, done);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 1U);
}

// A finished task is only deleted if it is still in the place where it was fetched. Rows of a task
// that was moved or buried since belong to its later holder.
TEST_F(QueueTest, ALateAckLeavesTheHistoryOfALiveOrDeadTaskAlone) {
  for (const bool buried : {false, true}) {
    observer_.execute(
        "DELETE FROM task; DELETE FROM task_moved; DELETE FROM task_attempt; DELETE FROM task_dead;"
        "UPDATE q_lock_table SET state = 'FREE', lock_by = NULL");
    put(1);
    Block block = must_lease();
    ASSERT_EQ(worker_.tasks.retry(worker_.db, fence(block.lease, block.tasks.at(0)), 1,
                                  std::chrono::microseconds(0), kFailure),
              Fenced::kWritten);
    block.tasks = fetch(worker_.db, partition_, {});
    Worker thief(connect());
    const auto stolen = thief.steal(partition_);
    ASSERT_TRUE(stolen);
    const Task& task = stolen->tasks.at(0);
    const Fenced landed = buried
                              ? thief.tasks.bury(thief.db, fence(stolen->lease, task), 2, kFailure)
                              : thief.tasks.retry(thief.db, fence(stolen->lease, task), 2,
                                                  std::chrono::hours(1), kFailure);
    ASSERT_EQ(landed, Fenced::kWritten);
    const std::string before = all_as_text();
    ack(worker_.db, partition_, std::vector{finished(block.tasks.at(0))});
    EXPECT_EQ(all_as_text(), before) << (buried ? "buried" : "retried");
  }
}

}  // namespace
}  // namespace allot::queue

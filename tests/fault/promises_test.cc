// SPDX-License-Identifier: Apache-2.0
// Promises for a draw, judged on made-up evidence: each judgement is once violated, and once
// satisfied.
#include <gtest/gtest.h>

#include <functional>

#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;

constexpr pid_t kWorker = 7;
constexpr pid_t kOther = 8;

// A draw of one queue, in which times are milliseconds and the tags are chosen by the verbs of
// their tasks.
struct Book : Ledger {
  explicit Book(const std::string& queue = "default", const std::string& placement = "spread") {
    draw.queues.push_back({.name = queue, .placement = placement});
    draw.hosts.push_back({.queue_keys = {{"block_seconds", "\"200ms\""}}});
    draw.verbs = {{"ok", 1}};
    draw.keys = 1;
    evidence.max_attempts = 3;
    evidence.recovery = 100 * kMillisecond;
  }
  Book& with(const std::function<void(Book&)>& change) {
    change(*this);
    return *this;
  }
  [[nodiscard]] QueuePlan& queue() { return draw.queues.front(); }
  // A trace of a task in the only queue; its id is derived from its tag.
  Book& trace(Mark mark, const std::string& tag, Nanoseconds at, pid_t pid = kWorker,
              unsigned attempt = 1, const std::string& more = {}) {
    Trace one{mark, queue().name, "id" + tag, tag, pid, 99, at * kMillisecond};
    one.attempt = attempt;
    one.more = more;
    evidence.traces.push_back(one);
    return *this;
  }
  Book& run(const std::string& tag, Nanoseconds start, Nanoseconds end, Mark mark = Mark::kSuccess,
            pid_t pid = kWorker, unsigned attempt = 1) {
    return trace(Mark::kStart, tag, start, pid, attempt).trace(mark, tag, end, pid);
  }
  Book& replied(const std::string& tag, Nanoseconds begin, Nanoseconds end) {
    const auto number = std::stoull(tag.substr(tag.find('.') + 1));
    evidence.replies.push_back({static_cast<unsigned>(std::stoul(tag)), number, 1,
                                Answer::kAcknowledged, begin * kMillisecond, end * kMillisecond});
    ids[tag] = "id" + tag;
    return *this;
  }
  Book& hit(const std::string& kind, pid_t pid, Nanoseconds begin, Nanoseconds end,
            bool fatal = false) {
    evidence.faults.push_back({kind, pid, begin * kMillisecond, end * kMillisecond, fatal});
    return *this;
  }
  Book& did(Act act, const std::string& tag, Nanoseconds begin, Nanoseconds end,
            const std::function<void(Operation&)>& more = {}) {
    Operation operation;
    operation.act = act;
    operation.queue = queue().name;
    operation.tag = tag;
    if (!tag.empty()) operation.task = "id" + tag;
    operation.begin = begin * kMillisecond;
    operation.end = end * kMillisecond;
    operation.landed = Landed::kYes;
    if (more) more(operation);
    operations.push_back(operation);
    return *this;
  }
  Book& died(const std::string& tag, const std::string& cause) {
    dead.push_back({"id" + tag, tag, queue().name, cause});
    evidence.dead.push_back(tag);
    return *this;
  }
  Book& row(const std::string& tag, unsigned attempt = 1, const std::string& type = "swarm.plain") {
    history.push_back({"id" + tag, queue().name, type, attempt});
    return *this;
  }
  // The first tag of a submitter whose task matches.
  [[nodiscard]] std::string tag_of_one(const std::function<bool(const WorkItem&)>& wanted) const {
    for (std::uint64_t number = 1; number < 10'000; ++number) {
      if (wanted(item_of(draw, 1, number))) return tag_of(1, number);
    }
    throw std::runtime_error("no such task");
  }
};

// Empty, or the only complaint.
std::string said(const Ledger& ledger) {
  std::string all;
  for (const std::string& line : broken_promises(ledger)) all += line + "\n";
  return all;
}
void expect_clean(const Ledger& ledger) {
  EXPECT_EQ(said(ledger), "");
}
void expect_found(const Ledger& ledger, const std::string& what) {
  const auto broken = broken_promises(ledger);
  ASSERT_EQ(broken.size(), 1U) << said(ledger);
  EXPECT_EQ(broken.front().rfind(what, 0), 0U) << broken.front();
}

TEST(Promises, NoAttemptIsAboveTheLimit) {
  expect_clean(Book().run("1.1", 1, 2, Mark::kSuccess, kWorker, 3));
  expect_found(Book().run("1.1", 1, 2, Mark::kSuccess, kWorker, 4),
               "an attempt behind the last one");
}

TEST(Promises, AnAttemptBehindACheckpointBeginsFromIt) {
  const auto kept = Book()
                        .trace(Mark::kStart, "1.1", 1)
                        .trace(Mark::kKept, "1.1", 2)
                        .trace(Mark::kRetry, "1.1", 3);
  expect_clean(Book(kept).trace(Mark::kStart, "1.1", 4, kWorker, 2, "kept"));
  expect_found(Book(kept).trace(Mark::kStart, "1.1", 4, kWorker, 2),
               "it does not begin from its checkpoint");
}

TEST(Promises, AnExpiredTaskDoesNotStart) {
  Book book;
  book.draw.features = {Feature::kExpiry};
  const std::string tag =
      book.tag_of_one([](const WorkItem& item) { return item.expires_in.count() != 0; });
  const auto limit = item_of(book.draw, tag)->expires_in.count();
  book.replied(tag, 5, 10);
  expect_clean(Book(book).run(tag, 10 + limit, 11 + limit));
  expect_clean(Book(book).run(tag, 700 + limit, 701 + limit, Mark::kSuccess, kWorker, 2));
  expect_found(Book(book).run(tag, 700 + limit, 701 + limit), "it started although it had expired");
}

TEST(Promises, InAnOrderedQueueNoTaskStartsBeforeAnEarlierOneOfItsKeyIsOver) {
  const Book book("ordered", "ordered");
  const std::string broken = "started before an earlier task of its key was over: 1.2, 1.1";
  expect_clean(Book(book).run("1.1", 1, 5).run("1.2", 6, 7));
  expect_clean(Book(book).run("1.1", 1, 5).run("2.2", 4, 7));  // another submitter's
  expect_found(Book(book).run("1.1", 1, 5).run("1.2", 4, 7), broken);
  expect_found(Book(book).run("1.1", 1, 5, Mark::kRetry).run("1.2", 6, 7).run("1.1", 8, 9), broken);
  // It was dead once, and came back.
  Book revived = Book(book).run("1.1", 1, 5).run("1.2", 4, 7);
  revived.evidence.revived["1.1"] = {};
  expect_clean(revived);
}

TEST(Promises, AKeyHasOneTaskAtATime) {
  Book book;
  book.draw.features = {Feature::kUnique};
  const std::string first =
      book.tag_of_one([](const WorkItem& item) { return !item.unique_key.empty(); });
  const std::string key = item_of(book.draw, first)->unique_key;
  const std::string second = book.tag_of_one(
      [&](const WorkItem& item) { return item.unique_key == key && item.tag != first; });
  book.replied(first, 1, 2).replied(second, 10, 11);
  expect_clean(Book(book).run(first, 5, 6).run(second, 20, 21));
  // The first one waited while the second was submitted.
  expect_found(Book(book).run(second, 15, 16).run(first, 20, 21), "two tasks of a key");
  Book taken_out = Book(book).run(second, 15, 16).run(first, 20, 21);
  expect_clean(taken_out.did(Act::kCancel, first, 3, 4));
  // It was dead before that, and an operator revived it afterwards.
  Book revived = Book(book).run(second, 15, 16).run(first, 20, 21);
  revived.evidence.revived[first] = {};
  expect_clean(revived);
  // The second submission received the first one's id.
  Book same = Book(book).run(first, 20, 21);
  same.ids[second] = same.ids[first];
  expect_clean(same);
}

TEST(Promises, AnEffectIsThereOnceWithTheSuccess) {
  Book book;
  book.draw.verbs = {{"effect", 1}};
  const Book done = Book(book).run("1.1", 1, 2);
  const auto rows = [](const Book& of, unsigned count) {
    Book all = of;
    all.effects["1.1"] = count;
    return all;
  };
  expect_clean(rows(done, 1));
  expect_found(done, "its effect is missing");
  expect_found(rows(done, 2), "its effect is there more than once");
  Book waits = rows(Book(book).run("1.1", 1, 2, Mark::kRetry), 1);
  waits.evidence.waiting = {"1.1"};
  expect_found(waits, "its effect is there, and it waits");
}

TEST(Promises, ReplacementExistsOnceTheTaskIsDone) {
  Book book;
  book.draw.verbs = {{"replace", 1}};
  book.run("1.1", 1, 2);
  expect_clean(Book(book).run("101.1", 3, 4).run("201.1", 3, 4));
  expect_found(Book(book).run("101.1", 3, 4), "what it put in its place is missing");
  Book waits = Book(book).run("101.1", 3, 4);
  waits.evidence.waiting = {"1.1"};
  expect_found(waits, "it waits, and was replaced");
}

TEST(Promises, EachDeathFiresItsHookOnceButNotOfACancelledTask) {
  Book book;
  book.queue().on_dead = true;
  const auto hooked = [](Book of, const std::string& tag) {
    return of.trace(Mark::kStart, tag, 5)
        .trace(Mark::kHooked, tag, 5, kWorker, 0, "dead id1.1")
        .trace(Mark::kSuccess, tag, 6);
  };
  const Book failed = Book(book).run("1.1", 1, 2, Mark::kFail).died("1.1", "fail");
  expect_clean(hooked(failed, "900.1"));
  expect_found(failed, "0 hooks for a death by fail");
  const auto twice = broken_promises(hooked(hooked(failed, "900.1"), "900.2"));
  ASSERT_EQ(twice.size(), 2U);
  EXPECT_EQ(twice.front(), "2 hooks for a death by fail: 1.1");
  EXPECT_EQ(twice.back(), "several hooks for a death: id1.1");
  const Book cancelled = Book(book).died("1.1", "cancelled");
  expect_clean(cancelled);
  expect_found(hooked(cancelled, "900.1"), "1 hooks for a death by cancelled");
  Book silent = failed;
  silent.queue().on_dead = false;
  expect_clean(silent);
}

TEST(Promises, ALimitedQueueRunsNoMoreOfAKeyAtOnce) {
  Book book("limited", "limited");
  book.queue().max_running = 2;
  book.run("1.1", 1, 10).run("1.2", 2, 10, Mark::kSuccess, kOther);
  expect_clean(Book(book).run("1.3", 10, 20, Mark::kSuccess, 9));
  expect_found(Book(book).run("1.3", 9, 20, Mark::kSuccess, 9),
               "3 tasks of a key ran at once, not 2: limited/k0 1.1 1.2 1.3");
  Book keys = book;
  keys.draw.keys = 2;
  const std::string key = item_of(keys.draw, "1.1")->partition_key;
  const std::string other =
      keys.tag_of_one([&](const WorkItem& item) { return item.partition_key != key; });
  expect_clean(keys.run(other, 9, 20, Mark::kSuccess, 9));
  // A worker that was stopped beyond its lease, and a killed one.
  expect_clean(Book(book).run("1.3", 9, 20, Mark::kSuccess, 9).hit("stop_host", kOther, 3, 8));
  expect_clean(Book("limited", "limited")
                   .with([](Book& of) { of.queue().max_running = 1; })
                   .trace(Mark::kStart, "1.1", 1)
                   .run("1.2", 2, 3));
}

TEST(Promises, TaskSubmittedToAnIdleQueueStartsSoon) {
  const Book book = Book().replied("99.1", 1, 10);
  expect_clean(Book(book).run("99.1", 900, 901));
  expect_found(Book(book).run("99.1", 5'100, 5'101), "nothing else was left, and it started late");
  expect_found(book, "nothing else was left, and it did not start");
}

// block_seconds is 200 ms, and 1.5 s more are allowed.
TEST(Pauses, NothingStartsInAPausedQueueOnceWorkersHaveLeftIt) {
  const auto lifted = [](Operation& operation) { operation.lifts = true; };
  const Book book = Book().did(Act::kPause, "", 90, 100).did(Act::kPause, "", 4'000, 4'010, lifted);
  expect_clean(Book(book).run("1.1", 1'700, 1'701).run("1.2", 4'005, 4'006));
  expect_found(Book(book).run("1.1", 1'900, 1'901), "it started in a paused queue: 1.1");
  // A delay, or the task had to wait for its turn after a crash.
  expect_clean(Book(book).run("1.1", 1'900, 1'901).hit("read_only", 0, 500, 600));
  expect_clean(Book(book)
                   .run("1.1", 1'900, 1'901, Mark::kSuccess, kWorker, 2)
                   .hit("crash", kOther, 500, 501, true));
  expect_found(Book(book).run("1.1", 1'900, 1'901).hit("crash", kOther, 500, 501, true),
               "it started in a paused queue");
  Book failed = Book(book).run("1.1", 1'900, 1'901);
  failed.operations.front().landed = Landed::kMaybe;
  expect_clean(failed);
  // The first resume ends all pauses of its queue, and no pause of another queue.
  expect_clean(Book(book).did(Act::kPause, "", 1'800, 1'810, lifted).run("1.1", 1'900, 1'901));
  Book elsewhere = Book(book).did(Act::kPause, "", 1'800, 1'810, lifted).run("1.1", 1'900, 1'901);
  elsewhere.operations.back().queue = "other";
  expect_found(elsewhere, "it started in a paused queue");
}

TEST(Cancels, CancelledUnfetchedTaskDoesNotStart) {
  const auto not_fetched = [](Operation& operation) { operation.may_run = false; };
  const Book book = Book().run("1.1", 20, 21);
  expect_clean(Book(book).did(Act::kCancel, "1.1", 10, 15));
  expect_found(Book(book).did(Act::kCancel, "1.1", 10, 15, not_fetched),
               "it started behind its cancel");
}

// A second until it is seen, 500 ms of grace, and 1.5 s more.
class Asked : public testing::Test {
 protected:
  Asked() {
    book_.draw.cancel_grace = milliseconds(500);
    book_.did(Act::kCancel, "1.1", 1'500, 1'510,
              [](Operation& operation) { operation.asked = true; });
  }
  [[nodiscard]] Book ended(Nanoseconds at, Mark mark = Mark::kStopped) const {
    return Book(book_).run("1.1", 1, at, mark);
  }
  Book book_;
};

TEST_F(Asked, ItEndsInTime) {
  expect_clean(ended(4'500).died("1.1", "cancelled"));
  expect_found(ended(4'520).died("1.1", "cancelled"), "it ended too late after its cancel");
  expect_clean(ended(4'520).died("1.1", "cancelled").hit("read_only", 0, 2'000, 2'100));
  // A handler that checks for a stop request needs no grace.
  book_.draw.verbs = {{"long", 1}};
  expect_clean(ended(4'000).died("1.1", "cancelled"));
  expect_found(ended(4'020).died("1.1", "cancelled"), "it ended too late after its cancel");
}

TEST_F(Asked, OrItsWorkerIsKilled) {
  const Book running = Book(book_).trace(Mark::kStart, "1.1", 1).died("1.1", "cancelled");
  expect_clean(Book(running).hit("supervisor", kWorker, 3'000, 3'050, true));
  expect_found(Book(running).hit("supervisor", kWorker, 4'500, 4'550, true),
               "it ended too late after its cancel");
  expect_found(Book(running).hit("supervisor", kOther, 3'000, 3'050, true),
               "it was cancelled, and did not end");
}

TEST_F(Asked, SoDoesOneThatWasTakenOutWhileItRan) {
  book_.operations.front().asked = false;
  expect_clean(ended(4'500).died("1.1", "cancelled"));
  expect_found(ended(4'520).died("1.1", "cancelled"), "it ended too late after its cancel");
}

TEST_F(Asked, ItIsDeadOrHasSucceeded) {
  expect_clean(ended(2'000, Mark::kSuccess));
  expect_found(ended(2'000), "its end was asked for, and it is neither dead nor done");
  expect_found(ended(2'000).died("1.1", "timeout"),
               "its end was asked for, and it is dead by timeout");
  // The request may be unseen when the handler gave up.
  const auto failed = [&](Nanoseconds at) { return ended(at, Mark::kFail).died("1.1", "fail"); };
  expect_clean(failed(4'000));
  expect_found(failed(4'050), "its end was asked for, and it is dead by fail");
  expect_clean(failed(4'050).hit("kill_database", 0, 2'000, 2'100));
  book_.operations.front().act = Act::kCancelDone;
  expect_clean(ended(2'000));
  expect_found(ended(2'000).died("1.1", "cancelled"),
               "it was to end as done, and is dead by cancelled");
}

TEST_F(Asked, ItDoesNotStartAgain) {
  const Book over = ended(2'000).died("1.1", "cancelled");
  const std::string again = "it started again although its end was asked for";
  expect_found(Book(over).run("1.1", 2'100, 2'200, Mark::kStopped, kOther, 2), again);
  // It had ended by then, and another worker was about to start it.
  const Book late = ended(1'500).died("1.1", "cancelled");
  expect_clean(Book(late).run("1.1", 1'600, 1'700, Mark::kStopped, kOther, 2));
  expect_found(Book(late).run("1.1", 3'100, 3'200, Mark::kStopped, kOther, 2), again);
  expect_clean(Book(over)
                   .run("1.1", 2'100, 2'200, Mark::kStopped, kOther, 2)
                   .hit("stop_worker", kOther, 1'000, 2'090));
}

class Histories : public testing::Test {
 protected:
  Histories() {
    book_.queue().history = true;
    book_.run("1.1", 1, 2, Mark::kRetry).run("1.1", 3, 4, Mark::kSuccess, kWorker, 2);
  }
  Book book_;
};

TEST_F(Histories, AFinishedTaskHasOneRowOfTheAttemptThatSucceeded) {
  expect_clean(Book(book_).row("1.1", 2));
  expect_found(book_, "missing in the history: 1.1");
  expect_found(Book(book_).row("1.1", 2).row("1.1", 2), "2 rows in the history: 1.1");
  expect_found(Book(book_).row("1.1", 1), "in the history with attempt 1: 1.1");
  expect_found(Book(book_).row("1.1", 2, "swarm.side"), "in the history as a swarm.side: 1.1");
}

TEST_F(Histories, NoOtherTaskHasOne) {
  expect_found(Book(book_).row("1.1", 2).row("1.9"), "in the history, but unknown: id1.9");
  expect_found(Book(book_).row("1.1", 2).died("1.1", "crash"),
               "in the history, and it is not done");
  expect_found(Book(book_).row("1.1", 2).run("1.2", 1, 2, Mark::kFail).row("1.2"),
               "in the history, and it is not done");
}

TEST_F(Histories, AQueueWithoutOneHasNoRow) {
  book_.queue().history = false;
  expect_clean(book_);
  expect_found(Book(book_).row("1.1", 2), "a history that was not requested");
}

TEST_F(Histories, ACancelledTaskHasARowIfItEndedAsDone) {
  book_.row("1.1", 2);
  const Book done = Book(book_).did(Act::kCancelDone, "1.2", 5, 6);
  expect_found(done, "it was to end as done, and is missing in the history");
  expect_clean(Book(done).row("1.2"));
  const Book taken_out = Book(book_).did(Act::kCancel, "1.2", 5, 6);
  expect_clean(taken_out);
  expect_found(Book(taken_out).row("1.2"), "it was taken out, and is in the history");
}

// Ticks of 1 s and 2 s since 1970.
TEST(Ticks, EachHasOneTask) {
  const auto tick = [](Book& book, const std::string& tag, const std::string& second) {
    book.trace(Mark::kHooked, tag, 5, kWorker, 0, "tick 1970-01-01T00:00:0" + second + "Z");
  };
  Book book;
  book.ticks = TickRange{1, 3};
  tick(book, "900.1", "1");
  expect_found(Book(book), "a tick without a task: 1970-01-01T00:00:02Z");
  tick(book, "900.2", "2");
  tick(book, "900.2", "2");  // another run of the same task
  expect_clean(book);
  expect_found(Book(book).with([&](Book& more) { tick(more, "900.3", "2"); }),
               "a tick with 2 tasks: 1970-01-01T00:00:02Z");
  expect_found(Book(book).with([&](Book& more) { tick(more, "900.3", "3"); }),
               "a task of a tick that was not due: 1970-01-01T00:00:03Z, id900.3");
}

// One command each at 100 to 110 ms and at 200 to 210 ms.
TEST(Routes, ATaskGoesWhereTheRouteSaysThatWasThere) {
  Book book;
  book.draw.routes = {Action{}};
  const auto end = [](Operation& operation) { operation.lifts = true; };
  book.did(Act::kRoute, "", 100, 110).did(Act::kRoute, "", 200, 210, end);
  const auto ran = [&](Nanoseconds reply, const std::string& queue) {
    Book more(book);
    more.replied("1.1", reply, reply + 5).run("1.1", 300, 301);
    for (Trace& trace : more.evidence.traces) trace.queue = queue;
    return more;
  };
  expect_clean(ran(50, "default"));
  expect_clean(ran(150, "aside"));
  expect_clean(ran(250, "default"));
  expect_clean(ran(98, "aside"));  // while it changed
  expect_clean(ran(98, "default"));
  expect_found(ran(50, "aside"), "a task of queue default ran in aside: 1.1");
  expect_found(ran(150, "default"), "a task of queue aside ran in default: 1.1");
  expect_found(ran(250, "aside"), "a task of queue default ran in aside: 1.1");
  book.operations.front().landed = Landed::kMaybe;
  expect_clean(ran(150, "default"));
  expect_found(ran(250, "aside"), "a task of queue default ran in aside: 1.1");
}

TEST(Rates, NoMoreStartInTenSeconds) {
  Book book;
  book.draw.rate = {2, 1};
  book.rated_until = 30 * kSecond;
  const auto run = [&](int tasks, Nanoseconds apart) {
    Book more(book);
    for (int i = 1; i <= tasks; ++i) {
      const std::string tag = "1." + std::to_string(i);
      more.replied(tag, 1, 2).run(tag, 10 + i * apart, 11 + i * apart);
    }
    return more;
  };
  expect_clean(run(22, 10));
  expect_found(run(23, 10), "23 tasks started in 10 s, more than the rate of 2 a second allows");
  expect_clean(run(60, 500));
  expect_found(run(60, 400), "26 tasks started in 10 s");
  book.rated_until = 0;
  expect_clean(run(60, 10));
}

struct OfDeath {
  std::string how;
  std::function<void(Book&)> change;
  bool known;
};

// Each worker dies at 10 s.
TEST(Deaths, EachHasAReasonOfItsOwn) {
  const auto nothing = [](Book&) {};
  const auto fatal = [](const std::string& kind, pid_t pid, Nanoseconds at = 9'990) {
    return [=](Book& book) { book.hit(kind, pid, at, at + 10, true); };
  };
  const auto away = [](const std::string& kind, pid_t pid, Nanoseconds begin, Nanoseconds end) {
    return [=](Book& book) { book.hit(kind, pid, begin, end); };
  };
  const std::string in_task = " task_type=swarm.plain attempt=1";
  const OfDeath deaths[] = {
      {"signal=15", nothing, false},
      {"signal=1", nothing, false},
      {"exit=78", nothing, false},
      {"exit=69", nothing, false},
      {"exit=69", away("read_only", 0, 8'000, 9'000), true},
      {"exit=69", away("read_only", 0, 1'000, 2'000), false},
      {"exit=69", away("read_only", 0, 11'000, 12'000), false},
      {"exit=69", away("cut", kWorker, 8'000, 9'000), true},
      {"exit=69", away("cut", kOther, 8'000, 9'000), false},
      {"exit=69", away("hold_lease", place_of(1, 1), 8'000, 9'000), true},
      {"exit=69", away("kill_daemon", kWorker, 8'000, 9'000), false},
      {"signal=9", nothing, false},
      {"signal=9", fatal("kill_worker", kWorker), true},
      {"signal=9" + in_task, fatal("supervisor", kWorker), true},
      {"signal=9", fatal("kill_worker", kOther), false},
      {"signal=9", fatal("kill_worker", kWorker, 10'500), false},
      {"signal=9", fatal("crash", kWorker), false},
      {"signal=11" + in_task, fatal("crash", kWorker), true},
      {"signal=11", fatal("kill_worker", kWorker), false},
      {"signal=6", fatal("kill_worker", kWorker), false},
      {"signal=9",
       [](Book& book) {
         book.evidence.faults.push_back(
             {"kill_host", 99, 9 * kSecond, 9 * kSecond, true, false, Reach::kHost});
       },
       false},
  };
  for (const OfDeath& death : deaths) {
    Book book;
    book.deaths.push_back(
        {"WARN  supervisor worker.died slot=0 pid=7 " + death.how, kWorker, 10 * kSecond});
    death.change(book);
    EXPECT_EQ(said(book).empty(), death.known) << death.how << " " << said(book);
  }
}

}  // namespace
}  // namespace allot::fault

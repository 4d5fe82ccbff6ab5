// SPDX-License-Identifier: Apache-2.0
// Leadership of the duties: each host of these tests has its own connection and clock, follows the
// rules of the protocol, and shares nothing with the others.
// Rule: S46.
#include "steward/leadership.h"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "db/worker/fixture.h"
#include "queue/model/lease.h"
#include "queue/views/health.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::steward {
namespace {

using queue::DutyName;
using queue::DutyNames;
using std::chrono::milliseconds;
using support::eventually;

class Host {
 public:
  Host(db::ConnectOptions options, const DutyNames& duties)
      : raw_slot_(std::make_unique<ipc::Slot>()),
        slot_(*raw_slot_, -1),
        session_(std::move(options), slot_, milliseconds(500)),
        holder_(queue::make_holder("test", "/run/allot/test")),
        leadership_(session_, holder_),
        duties_(duties) {
    for (const DutyName& duty : duties) leadership_.want(duty);
  }

  Leadership* operator->() { return &leadership_; }
  process::Session& session() { return session_; }
  [[nodiscard]] std::uint64_t holder() const { return holder_.id; }

  [[nodiscard]] std::size_t led() const {
    std::size_t led = 0;
    for (const DutyName& duty : duties_) led += leadership_.leads(duty) ? 1U : 0U;
    return led;
  }
  [[nodiscard]] bool leads_all() const { return led() == duties_.size(); }

  // Executes the next round when it is due.
  [[nodiscard]] bool next_round() {
    const Nanos due = leadership_.next_ns();
    const bool waited = eventually([&] { return boot_ns() >= due; });
    leadership_.round();
    return waited;
  }
  // Number of statements of this kind sent by its connection.
  std::uint64_t sent(const std::string& counter) {
    return session_.call([&](db::Connection& db) {
      auto result = db.execute("SHOW SESSION STATUS LIKE '" + counter + "'");
      return result.front().next()->u64(1);
    });
  }
  std::uint64_t writes() {
    return sent("Com_update") + sent("Com_insert") + sent("Com_delete") + sent("Com_begin");
  }

 private:
  std::unique_ptr<ipc::Slot> raw_slot_;
  process::SlotWriter slot_;
  process::Session session_;
  queue::Holder holder_;
  Leadership leadership_;
  DutyNames duties_;
};

class LeadershipTest : public worker::WorkerTest {
 protected:
  LeadershipTest() : purge_{queue_.queue_id, "purge"}, duties_{cluster_, purge_} {}

  std::unique_ptr<Host> host() { return std::make_unique<Host>(options(), duties_); }
  // A host that leads everything.
  std::unique_ptr<Host> leader() {
    auto first = host();
    (*first)->round();
    EXPECT_TRUE(first->leads_all());
    return first;
  }
  // Value of the column, which is the same in the row of each duty.
  std::string each(const std::string& column) {
    return value("SELECT IF(COUNT(DISTINCT " + column + ") = 1 AND COUNT(*) = 2, MAX(" + column +
                 "), 'they differ') FROM queue_duty");
  }
  bool all_are_of(const Host& host) { return each("holder") == std::to_string(host.holder()); }

  DutyName cluster_{0, "schedules"};
  DutyName purge_;
  DutyNames duties_;
};

TEST_F(LeadershipTest, OneLeadsAndTheOthersOnlyRead) {
  const auto first = leader();
  const auto second = host();
  const auto third = host();
  std::vector<Host*> followers{second.get(), third.get()};
  for (Host* one : followers) (*one)->round();
  const std::uint64_t updates = first->sent("Com_update");
  const std::uint64_t reads = first->sent("Com_select");
  std::vector<std::uint64_t> writes_before;
  std::vector<std::uint64_t> reads_before;
  for (Host* one : followers) {
    writes_before.push_back(one->writes());
    reads_before.push_back(one->sent("Com_select"));
  }
  constexpr std::uint64_t kRounds = 3;
  const Nanos begin = boot_ns();
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(first->next_round());
    for (Host* one : followers) ASSERT_TRUE(one->next_round());
    EXPECT_TRUE(first->leads_all());
  }
  EXPECT_GE(boot_ns() - begin, (2 * kRounds - 1) * kSecond) << "a round is 2.4 seconds";
  EXPECT_EQ(first->sent("Com_update") - updates, kRounds);
  // A session checks every five seconds whether its server is writable.
  constexpr std::uint64_t kLooks = 2;
  EXPECT_LE(first->sent("Com_select") - reads, kLooks);
  for (std::size_t i = 0; i < followers.size(); ++i) {
    EXPECT_EQ(followers[i]->writes(), writes_before[i]);
    const std::uint64_t read = followers[i]->sent("Com_select") - reads_before[i];
    EXPECT_GE(read, kRounds);
    EXPECT_LE(read, kRounds + kLooks);
    EXPECT_EQ(followers[i]->led(), 0U);
  }
  EXPECT_TRUE(all_are_of(*first));
}

// A viewer is seen by every host within a round, and costs nothing without viewers.
TEST_F(LeadershipTest, ViewersAreSeenInWhatIsSentAnyway) {
  const DutyName viewers{0, queue::kViewersDuty};
  const auto first = host();
  const auto second = host();
  for (Host* one : {first.get(), second.get()}) (*one)->want_with(viewers, cluster_);
  (*first)->round();
  (*second)->round();
  EXPECT_TRUE(first->leads_all() && (*first)->leads(viewers));
  EXPECT_FALSE((*first)->viewed() || (*second)->viewed());
  queue::note_viewer(db_);
  const Nanos noted = boot_ns();
  ASSERT_TRUE(first->next_round() && second->next_round());
  EXPECT_TRUE((*first)->viewed());
  EXPECT_TRUE((*second)->viewed());
  EXPECT_TRUE(first->leads_all()) << "what the host leads besides stays its own";
  EXPECT_FALSE((*first)->leads(viewers));
  EXPECT_TRUE(eventually([&] {
    (*second)->round();
    (*first)->round();
    EXPECT_FALSE((*second)->leads(viewers)) << "it is claimed with the other one only";
    return (*first)->leads(viewers);
  }));
  EXPECT_GE(boot_ns(), noted + 4 * kSecond) << "the viewer has it for a term";
  const std::uint64_t updates = first->sent("Com_update");
  const std::uint64_t reads = first->sent("Com_select");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(first->next_round());
  EXPECT_EQ(first->sent("Com_update") - updates, 2U);
  EXPECT_LE(first->sent("Com_select") - reads, 2U) << "the session looks at its server";
  EXPECT_TRUE(eventually([&] { return !(*first)->viewed() && !(*second)->viewed(); }));
  EXPECT_GE(boot_ns(), noted + 10 * kSecond);
}

// Like after SIGSTOP, or on a host that is cut off: the leader does not learn that it no longer
// leads.
TEST_F(LeadershipTest, StalledLeaderIsReplacedAndLearnsIt) {
  const auto first = leader();
  const Nanos term_end = boot_ns() + std::chrono::nanoseconds(queue::kDutyTtl).count();
  const auto second = host();
  Nanos due = 0;
  ASSERT_TRUE(eventually([&] {
    due = (*second)->next_ns();
    (*second)->round();
    const bool led = second->led() > 0;
    EXPECT_FALSE(led && first->led() > 0) << "both lead";
    return led;
  }));
  EXPECT_LT(due, term_end + kSecond / 2) << "it comes back for that, and not with its next round";
  EXPECT_TRUE(second->leads_all());
  EXPECT_EQ(first->led(), 0U);
  (*first)->ran(purge_);
  (*first)->round();
  EXPECT_EQ(first->led(), 0U) << "it comes back, and finds another";
  EXPECT_TRUE(all_are_of(*second));
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue_duty WHERE last_run IS NOT NULL"), "0")
      << "what it did is not the new leader's";
  EXPECT_TRUE(second->next_round());
  EXPECT_TRUE(second->leads_all());
}

// If no other host claimed it in between.
TEST_F(LeadershipTest, AnEndedTermContinues) {
  const auto first = leader();
  const std::string since = each("since");
  ASSERT_TRUE(eventually([&] { return first->led() == 0; }));
  (*first)->round();
  EXPECT_TRUE(first->leads_all());
  EXPECT_EQ(each("since"), since);
}

TEST_F(LeadershipTest, AfterTheClockWasSetBackATermIsOver) {
  const auto first = leader();
  const auto second = host();
  (*second)->round();
  db_.execute("UPDATE queue_duty SET free_at = free_at + INTERVAL 1 HOUR");
  ASSERT_TRUE(second->next_round());
  EXPECT_TRUE(second->leads_all());
  ASSERT_TRUE(first->next_round());
  EXPECT_EQ(first->led(), 0U) << "it learns it with its next renewal";
  EXPECT_TRUE(all_are_of(*second));
}

// The leader itself renews it before another host notices: then it continues.
TEST_F(LeadershipTest, AfterTheClockWasSetBackTheLeaderMayGoOn) {
  const auto first = leader();
  db_.execute("UPDATE queue_duty SET free_at = free_at + INTERVAL 1 HOUR");
  ASSERT_TRUE(first->next_round());
  EXPECT_TRUE(first->leads_all());
  const auto second = host();
  (*second)->round();
  EXPECT_EQ(second->led(), 0U);
}

TEST_F(LeadershipTest, StoppingStewardReturnsItsDuties) {
  const auto first = leader();
  const auto second = host();
  (*second)->round();
  (*first)->ran(purge_);
  (*first)->leave();
  EXPECT_EQ(first->led(), 0U);
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue_duty WHERE holder IS NULL AND since IS NULL AND"
                  " holder_host IS NULL AND free_at <= UTC_TIMESTAMP(6)"),
            "2");
  EXPECT_EQ(value("SELECT duty FROM queue_duty WHERE last_run IS NOT NULL"), "purge");
  EXPECT_LE((*second)->next_ns(), boot_ns() + 2'400 * kMilli) << "a round is two seconds";
  ASSERT_TRUE(second->next_round());
  EXPECT_TRUE(second->leads_all());
  (*first)->round();
  EXPECT_EQ(first->led(), 0U);
}

TEST_F(LeadershipTest, ARowThatIsGoneIsMadeAgain) {
  const auto first = leader();
  db_.execute("DELETE FROM queue_duty WHERE duty = 'purge'");
  ASSERT_TRUE(first->next_round());
  EXPECT_TRUE(first->leads_all());
  EXPECT_TRUE(all_are_of(*first));
}

// Each leads the duties that the other one does not need.
TEST_F(LeadershipTest, HostsMayWantDifferentDuties) {
  const auto first = leader();
  const DutyName other{queue_.queue_id, "stuck"};
  Host second(options(), {cluster_, other});
  second->round();
  EXPECT_FALSE(second->leads(cluster_));
  EXPECT_TRUE(second->leads(other));
  ASSERT_TRUE(second.next_round());
  EXPECT_TRUE(second->leads(other));
  ASSERT_TRUE(first->next_round());
  EXPECT_TRUE(first->leads_all());
  (*first)->leave();
  ASSERT_TRUE(second.next_round());
  EXPECT_TRUE(second.leads_all());
}

// A claim may have begun before the winner's statement, and then waits for its row: to this claim,
// the winner's term ends too far ahead.
TEST_F(LeadershipTest, ConcurrentClaimsGiveEachDutyOneLeader) {
  for (int i = 0; i < 20; ++i) duties_.insert({queue_.queue_id, "duty-" + std::to_string(i)});
  constexpr std::size_t kHosts = 4;
  for (int i = 0; i < 10; ++i) {
    db_.execute("UPDATE queue_duty SET free_at = '2025-01-01', holder = NULL");
    std::vector<std::unique_ptr<Host>> hosts;
    for (std::size_t n = 0; n < kHosts; ++n) {
      hosts.push_back(host());
      hosts.back()->session().call([](db::Connection& /*db*/) { return true; });
    }
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> threads;
    for (auto& one : hosts) {
      threads.emplace_back([&ready, &one] {
        ++ready;
        while (ready < kHosts) std::this_thread::yield();
        (*one)->round();
      });
    }
    for (auto& thread : threads) thread.join();
    std::size_t led = 0;
    for (const auto& one : hosts) led += one->led();
    EXPECT_EQ(led, duties_.size());
  }
}

// A claim that waits for the winner's row, and whose time is from before.
TEST_F(LeadershipTest, AStatementThatWaitedTakesNothing) {
  const auto first = leader();
  db_.execute("UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  db::Connection late = support::Database::shared().connect(name_);
  const auto seen = queue::DutyStore::watch(late, duties_);
  ASSERT_TRUE(seen.at(0).over && seen.at(1).over);
  db_.execute("BEGIN; SELECT * FROM queue_duty FOR UPDATE");
  const queue::DutyStore other(queue::make_holder("other", "/run/allot/other"));
  std::thread claim([&] { EXPECT_EQ(other.take_terms(late, seen), 0U); });
  db::Connection observer = support::Database::shared().connect(name_);
  EXPECT_TRUE(support::wait_for_lock_waits(observer, 1));
  db_.execute("UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6) + INTERVAL 10 SECOND; COMMIT");
  claim.join();
  EXPECT_TRUE(all_are_of(*first));
}

// Reports about the leader's duties need no additional statement.
TEST_F(LeadershipTest, RunsAndErrorsAreWrittenByTheRenewal) {
  const auto first = leader();
  const std::uint64_t writes = first->writes();
  EXPECT_FALSE((*first)->since_last_run(purge_));
  const Nanos before = boot_ns();
  (*first)->ran(purge_);
  (*first)->failed(cluster_, std::string(254, 'x') + "\xc3\xa4 and more");
  const auto since = (*first)->since_last_run(purge_);
  EXPECT_TRUE(since && *since <= boot_ns() - before);
  ASSERT_TRUE(first->next_round());
  EXPECT_EQ(first->writes(), writes + 1);
  const auto duties = queue::list_duties(db_);
  ASSERT_EQ(duties.size(), 2U);
  EXPECT_EQ(duties[0].duty, "schedules");
  EXPECT_EQ(duties[0].queue, "");
  EXPECT_EQ(duties[0].last_error, std::string(254, 'x') + "\xc3\xa4");
  EXPECT_FALSE(duties[0].last_run);
  EXPECT_EQ(duties[1].queue, "q");
  EXPECT_TRUE(duties[1].last_run);
  EXPECT_FALSE(duties[1].last_error);
  EXPECT_TRUE(duties[1].led && duties[1].since);
  EXPECT_EQ(duties[1].instance, "test");
  EXPECT_EQ(duties[1].pid, static_cast<std::uint32_t>(::getpid()));
  // It is written once, and an error stays until the duty has succeeded.
  const std::string last_run = *duties[1].last_run;
  ASSERT_TRUE(first->next_round());
  EXPECT_EQ(queue::list_duties(db_)[1].last_run, last_run);
  EXPECT_TRUE(queue::list_duties(db_)[0].last_error);
  (*first)->ran(cluster_);
  (*first)->leave();
  EXPECT_FALSE(queue::list_duties(db_)[0].last_error);
  EXPECT_TRUE(queue::list_duties(db_)[0].leaderless);
  // The next leader knows when it was done.
  db_.execute("UPDATE queue_duty SET last_run = last_run - INTERVAL 1 HOUR WHERE duty = 'purge'");
  const auto second = leader();
  EXPECT_GE((*second)->since_last_run(purge_).value_or(0), 3600 * kSecond);
  EXPECT_LT((*second)->since_last_run(cluster_).value_or(kSecond * 3600), 600 * kSecond);
}

// The server executed the request, and the reply is lost.
class LostReplyTest : public LeadershipTest {
 protected:
  LostReplyTest()
      : direct_(support::Database::shared().connect(name_)),
        proxy_(folder_ / "p", support::Database::shared().socket(),
               [this](const std::string& sql) { return pass(sql); }) {}

  std::unique_ptr<Host> proxied() {
    db::ConnectOptions options = this->options();
    options.socket = proxy_.socket();
    auto host = std::make_unique<Host>(std::move(options), duties_);
    session_ = &host->session();
    id_ = session_->call([](db::Connection& db) { return db.id(); });
    return host;
  }
  // The next statement with this text is executed, and its reply is lost.
  void lose(const std::string& text) {
    text_ = text;
    armed_ = true;
  }

  std::atomic<bool> armed_{false};
  std::atomic<bool> lost_{false};

 private:
  std::string pass(const std::string& sql) {
    if (!armed_ || sql.find(text_) == std::string::npos) return sql;
    armed_ = false;
    lost_ = true;
    direct_.execute(sql);
    direct_.execute("KILL " + std::to_string(id_));
    EXPECT_TRUE(eventually([&] {
      return support::number_of(direct_,
                                "SELECT COUNT(*) FROM information_schema.processlist WHERE id = " +
                                    std::to_string(id_)) == 0;
    }));
    return sql;
  }

  support::TempDir folder_;
  std::string text_;
  std::uint64_t id_ = 0;
  process::Session* session_ = nullptr;
  db::Connection direct_;
  support::RewritingProxy proxy_;
};

TEST_F(LostReplyTest, HoldsForATakenTerm) {
  const auto first = proxied();
  lose("SET since =");
  (*first)->round();
  EXPECT_TRUE(lost_);
  EXPECT_EQ(first->session().generation(), 1U);
  EXPECT_TRUE(first->leads_all());
  EXPECT_TRUE(all_are_of(*first));
  ASSERT_TRUE(first->next_round());
  EXPECT_TRUE(first->leads_all());
}

TEST_F(LostReplyTest, HoldsForARenewal) {
  const auto first = proxied();
  (*first)->round();
  (*first)->ran(purge_);
  lose("last_error =");
  ASSERT_TRUE(first->next_round());
  EXPECT_TRUE(lost_);
  EXPECT_TRUE(first->leads_all());
  EXPECT_EQ(value("SELECT duty FROM queue_duty WHERE last_run IS NOT NULL"), "purge");
}

// A claim with a lost reply, on a host that could not reconnect for a long time: another host leads
// by then, and the first one knows it.
TEST_F(LostReplyTest, HoldsForATakenTermThatHasEnded) {
  const auto first = proxied();
  const auto second = host();
  const auto seen = [&] { return queue::DutyStore::watch(db_, duties_); };
  (*second)->round();
  ASSERT_TRUE(second->leads_all());
  const queue::DutyStore late(queue::make_holder("late", "/run/allot/late"));
  db_.execute("UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6)");
  const auto before = seen();
  EXPECT_EQ(late.take_terms(db_, before), 2U);
  EXPECT_EQ(late.take_terms(db_, before), 2U) << "sent again, it finds its own term";
  db_.execute("UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6)");
  ASSERT_TRUE(second->next_round());
  EXPECT_TRUE(second->leads_all());
  EXPECT_EQ(late.take_terms(db_, before), 0U) << "and this late it is another's";
  EXPECT_TRUE(all_are_of(*second));
}

}  // namespace
}  // namespace allot::steward

// SPDX-License-Identifier: Apache-2.0
// allot_lock_take, _renew, _release and _require: the locks of `allot lock`, for SQL.
#include <atomic>
#include <thread>

#include "db/sqlapi/fixture.h"
#include "queue/locks/lock_store.h"
#include "queue/model/server_change.h"
#include "support/eventually.h"
#include "support/stepped_clock.h"

namespace allot::sqlapi {
namespace {

// The token, or 0: not acquired.
std::uint64_t take_with(db::Connection& db, const std::string& name, const std::string& options) {
  auto results = db.execute("CALL allot_lock_take('" + name + "', " + options +
                            ", @token); SELECT COALESCE(@token, 0)");
  return results.back().next()->u64(0);
}

class SqlLockTest : public SqlApiTest {
 protected:
  std::uint64_t take(const std::string& name = "x", const std::string& options = "NULL") {
    return take_with(app_, name, options);
  }
  void call(const std::string& verb, const std::string& name, std::uint64_t token) {
    app_.execute("CALL allot_lock_" + verb + "('" + name + "', " + std::to_string(token) + ")");
  }
  template <typename Call>
  std::string refused(Call&& act) {
    try {
      act();
    } catch (const db::DbError& error) {
      EXPECT_EQ(error.number(), 1644U) << error.what();
      return error.what();
    }
    return "";
  }
  std::string state() { return value("SELECT GROUP_CONCAT(state) FROM named_lock"); }
};

TEST_F(SqlLockTest, ItIsRenewed) {
  const std::uint64_t token = take();
  call("renew", "x", token);
  EXPECT_EQ(state(), "EXTENDED");
  call("release", "x", token);
  EXPECT_NE(refused([&] { call("renew", "x", token); }), "");
  EXPECT_NE(refused([&] { call("release", "y", token); }), "") << "no such lock";
}

TEST_F(SqlLockTest, ExpiredLockIsNotTaken) {
  take();
  observer_.execute("UPDATE named_lock SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  EXPECT_EQ(take(), 0U) << "only who saw it standing still frees it";
}

// S38, S67: the call itself has seen it unchanged for its whole TTL.
TEST_F(SqlLockTest, ExpiredLockIsTakenByAWaitingCall) {
  const Nanos sent = boot_ns();
  const std::uint64_t gone = take("x", R"('{"ttl": "1s"}')");
  const std::uint64_t next = take("x", R"('{"wait": "1m"}')");
  EXPECT_GE(boot_ns(), sent + kSecond);
  EXPECT_GT(next, gone);
  EXPECT_NE(refused([&] { call("renew", "x", gone); }), "");
  EXPECT_EQ(take("x", R"('{"wait": "300ms"}')"), 0U) << "it is held";
}

// After the clock was set back, the expiry of a dead holder may be later than the expiry of any
// live one.
TEST_F(SqlLockTest, StalledSlotOfSeveralIsTaken) {
  const std::string spec = R"('{"slots": 2, "ttl": "1s", "wait": "1m"}')";
  const std::uint64_t kept = take("x", spec);
  const std::uint64_t gone = take("x", spec);
  observer_.execute("UPDATE named_lock SET expire_at = expire_at + INTERVAL 1 HOUR WHERE epoch = " +
                    std::to_string(gone));
  std::atomic<bool> done = false;
  std::thread holder([&, db = connect()]() mutable {
    while (!done) {
      db.execute("CALL allot_lock_renew('x', " + std::to_string(kept) + "); DO SLEEP(0.2)");
    }
  });
  const std::uint64_t next = take("x", spec);
  done = true;
  holder.join();
  EXPECT_EQ(next % 1024, gone % 1024);
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock WHERE epoch = " + std::to_string(kept)), 1U);
}

TEST_F(SqlLockTest, AHolderThatRenewsKeepsItFromACallThatWaits) {
  const std::uint64_t token = take("x", R"('{"ttl": "1s"}')");
  std::atomic<bool> done = false;
  std::uint64_t taken = 0;
  std::thread other([&, db = connect()]() mutable {
    taken = take_with(db, "x", R"('{"ttl": "1s", "wait": "4s"}')");
    done = true;
  });
  EXPECT_TRUE(support::eventually([&] {
    call("renew", "x", token);
    return done.load();
  }));
  other.join();
  EXPECT_EQ(taken, 0U);
  call("release", "x", token);
}

// S48: the server changes repeatedly while a call waits.
TEST_F(SqlLockTest, AfterAChangeOfServerACallThatWaitsFreesNothing) {
  take("x", R"('{"ttl": "1s"}')");
  std::atomic<bool> done = false;
  std::string said;
  std::thread other([&, db = connect()]() mutable {
    said = refused([&] { take_with(db, "x", R"('{"ttl": "1s", "wait": "5s"}')"); });
    done = true;
  });
  EXPECT_TRUE(support::eventually([&] {
    observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6)");
    return done.load();
  }));
  other.join();
  EXPECT_EQ(said, "");
  EXPECT_EQ(state(), "LOCKED");
}

// S40, S48: the lock is refused, and the message says that it is free.
TEST_F(SqlLockTest, AfterAChangeOfServerItSaysSo) {
  call("release", "x", take());
  queue::note_server(observer_);
  EXPECT_EQ(number("SELECT term FROM server_identity"), 1U) << "both find the same server";
  observer_.execute("UPDATE server_identity SET identity = 'another one'");
  const std::string message = refused([&] { take(); });
  EXPECT_NE(message.find("the database server has changed"), std::string::npos) << message;
  EXPECT_NE(message.find("in 3"), std::string::npos) << message;
  EXPECT_EQ(number("SELECT term FROM server_identity"), 2U);
  EXPECT_EQ(state(), "FREE");
  const auto changed = [&](const std::string& us_ago) {
    observer_.execute("UPDATE server_identity SET since = UTC_TIMESTAMP(6) - INTERVAL " + us_ago +
                      " MICROSECOND");
  };
  changed("25000000");
  EXPECT_NE(refused([&] { take(); }), "");
  EXPECT_NE(refused([&] { take("x", R"('{"ttl": "1s"}')"); }), "") << "it was held for longer";
  EXPECT_NE(take("y", R"('{"ttl": "1s"}')"), 0U) << "a new one, for less";
  changed("31000001");
  EXPECT_NE(refused([&] { take("x", R"('{"ttl": "1m"}')"); }), "");
  EXPECT_NE(take(), 0U);
  changed("0");
  EXPECT_EQ(take(), 0U) << "it is held, which needs no other reason";
}

// S41.
TEST_F(SqlLockTest, InATransactionItIsRefused) {
  const std::uint64_t token = take();
  const auto refused_each = [&] {
    EXPECT_NE(refused([&] { take("y"); }).find("transaction"), std::string::npos);
    EXPECT_NE(refused([&] { call("renew", "x", token); }).find("transaction"), std::string::npos);
    EXPECT_NE(refused([&] { call("release", "x", token); }).find("transaction"), std::string::npos);
  };
  app_.execute("BEGIN");
  refused_each();
  app_.execute("ROLLBACK");
  app_.execute("SET autocommit = 0");
  refused_each();
  app_.execute("ROLLBACK; SET autocommit = 1");
  EXPECT_EQ(state(), "LOCKED");
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock WHERE name = 'y'"), 0U);
  call("release", "x", token);
}

TEST_F(SqlLockTest, TheFenceHoldsUntilTheEndOfTheTransaction) {
  const std::uint64_t token = take();
  EXPECT_NE(refused([&] { call("require", "x", token); }).find("no transaction"),
            std::string::npos);
  app_.execute("BEGIN");
  call("require", "x", token);
  const auto seen = queue::watch_lock(observer_, "x");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(queue::free_lock(observer_, seen.front(), true)) << "its row is locked";
  app_.execute("COMMIT");
  EXPECT_TRUE(queue::free_lock(observer_, seen.front(), true));
  app_.execute("BEGIN");
  EXPECT_NE(refused([&] { call("require", "x", token); }).find("does not belong to"),
            std::string::npos);
  app_.execute("ROLLBACK");
  const std::uint64_t next = take();
  app_.execute("BEGIN");
  EXPECT_NE(refused([&] { call("require", "x", token); }), "") << "a stale token";
  call("require", "x", next);
  app_.execute("ROLLBACK");
  observer_.execute("UPDATE named_lock SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  app_.execute("BEGIN");
  EXPECT_NE(refused([&] { call("require", "x", next); }), "") << "expired";
  EXPECT_NE(refused([&] { call("require", "unknown", next); }), "");
  app_.execute("ROLLBACK");
}

TEST_F(SqlLockTest, BadInputIsRefusedByTheNameOfItsField) {
  const auto says = [&](const std::string& name, const std::string& options,
                        const std::string& field) {
    const std::string message = refused([&] { take(name, options); });
    EXPECT_NE(message.find(field), std::string::npos) << options << ": " << message;
  };
  says("", "NULL", "name of 0 bytes");
  says("x", R"('{"slots": "2"}')", "'slots'");
  says("x", R"('{"slots": 1.5}')", "'slots'");
  says("x", R"('{"ttl": 30}')", "'ttl'");
  says("x", R"('{"patience": "1s"}')", "options");
  says("x", R"('{"wait": "25h"}')", "'wait'");
  says("x", "'[]'", "options");
  EXPECT_EQ(number("SELECT COUNT(*) FROM named_lock"), 0U);
}

// S67: each step ends the current sleep, and a sleep does not count if the clock changed by an
// hour.
TEST(SqlLockClockTest, StepsOfTheClockShortenNoWait) {
  const support::SteppedClock clock;
  support::Database server({}, support::Network::kNone, clock.environment());
  const std::string database = server.make_database();
  db::Connection db = server.connect(database);
  const std::uint64_t gone = take_with(db, "x", R"('{"ttl": "1s"}')");
  std::atomic<std::uint64_t> taken = 0;
  std::thread other([&, waiting = server.connect(database)]() mutable {
    taken = take_with(waiting, "x", R"('{"wait": "1m"}')");
  });
  const Nanos until = boot_ns() + 5 * kSecond;
  std::chrono::hours ahead{0};
  Nanos step_at = 0;
  EXPECT_TRUE(support::eventually([&] {
    if (boot_ns() < step_at) return false;
    clock.step_to(++ahead);
    step_at = boot_ns() + 40 * kMilli;
    return boot_ns() >= until;
  }));
  EXPECT_EQ(taken.load(), 0U);
  other.join();
  EXPECT_GT(taken.load(), gone) << "once the clock is right";
}

}  // namespace
}  // namespace allot::sqlapi

// SPDX-License-Identifier: Apache-2.0
// The test clusters behave as their headers say.
#include "support/replication.h"

#include <gtest/gtest.h>

#include "support/db_error.h"
#include "support/eventually.h"

namespace allot::support {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

db::Connection with_table(const Database& server) {
  db::Connection db = server.connect();
  db.execute("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE = InnoDB");
  return db;
}

void insert(db::Connection& db, int id) {
  db.execute("INSERT INTO d.t VALUES (" + std::to_string(id) + ")");
}

std::string rows(const Database& server) {
  db::Connection db = server.connect();
  return value_of(db, "SELECT GROUP_CONCAT(id ORDER BY id) FROM d.t");
}

db::Connection impatient_connection(const Database& server) {
  db::ConnectOptions options = server.options();
  options.call_timeout = seconds(1);
  return db::Connection(options);
}

TEST(ReplicatedPair, PromotedReplicaHasEveryAcknowledgedCommit) {
  ReplicatedPair pair;
  db::Connection db = with_table(pair.first());
  EXPECT_THROW(db::Connection(pair.second().options()), db::DbError) << "it is read-only";
  for (int id = 0; id < 20; ++id) insert(db, id);
  pair.first().kill9();
  pair.promote();
  db::Connection at_second = pair.second().connect();
  EXPECT_EQ(number_of(at_second, "SELECT COUNT(*) FROM d.t"), 20U);
  insert(at_second, 20);
}

// The old primary is writable, and does not mention a newer one.
TEST(ReplicatedPair, OldPrimaryIsWritableAfterItsStart) {
  ReplicatedPair pair({.timeout = milliseconds(200)});
  db::Connection db = with_table(pair.first());
  insert(db, 1);
  pair.first().kill9();
  pair.promote();
  pair.first().start();
  db::Connection again = pair.first().connect();
  insert(again, 2);
  EXPECT_EQ(rows(pair.first()), "1,2");
  EXPECT_EQ(rows(pair.second()), "1");
}

TEST(ReplicatedPair, CommitWaitsForeverWithoutReplica) {
  ReplicatedPair pair;
  db::Connection db = with_table(pair.first());
  pair.first().kill9();
  pair.promote();
  pair.first().start();
  db::Connection again = impatient_connection(pair.first());
  EXPECT_THROW(insert(again, 1), db::DbError) << "the call timed out";
}

TEST(ReplicatedPair, FrozenPrimaryIsReplaced) {
  ReplicatedPair pair({.timeout = milliseconds(200)});
  db::Connection db = with_table(pair.first());
  {
    const Database::Stall frozen(pair.first());
    pair.promote();
    db::Connection at_second = pair.second().connect();
    insert(at_second, 2);
  }
  insert(db, 1);
  EXPECT_EQ(rows(pair.first()), "1");
  EXPECT_EQ(rows(pair.second()), "2");
}

TEST(ReplicatedPair, OldPrimaryBecomesReplica) {
  ReplicatedPair pair;
  db::Connection db = with_table(pair.first());
  insert(db, 1);
  pair.first().kill9();
  pair.promote();
  db::Connection at_second = pair.second().connect();
  insert(at_second, 2);
  pair.first().start();
  ASSERT_TRUE(pair.attach_first());
  insert(at_second, 3);
  EXPECT_THROW(db::Connection(pair.first().options()), db::DbError) << "it is read-only";
}

TEST(ReplicatedPair, OldPrimaryWithCommitsOfItsOwnIsNotAttached) {
  ReplicatedPair pair({.timeout = milliseconds(200)});
  db::Connection db = with_table(pair.first());
  pair.first().kill9();
  pair.promote();
  db::Connection at_second = pair.second().connect();
  insert(at_second, 1);
  insert(at_second, 2);
  insert(at_second, 3);
  pair.first().start();
  db::Connection again = pair.first().connect();
  insert(again, 4);
  EXPECT_FALSE(pair.attach_first());
}

}  // namespace
}  // namespace allot::support

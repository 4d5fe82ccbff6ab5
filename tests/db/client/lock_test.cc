// SPDX-License-Identifier: Apache-2.0
// Named locks of the client library: features of this interface only. The rest is in
// tests/contract.
#include <atomic>
#include <thread>

#include "db/client/fixture.h"
#include "peer/lock_bell.h"
#include "support/eventually.h"
#include "support/temp_dir.h"

namespace allot::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::eventually;

class ClientLockTest : public ClientTest {
 protected:
  std::string state() { return value("SELECT GROUP_CONCAT(state) FROM named_lock"); }
};

TEST_F(ClientLockTest, HeldUntilItsEnd) {
  {
    std::optional<Lock> lock = client_.lock("x");
    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->slot(), 0U);
    Lock moved = std::move(*lock);
    EXPECT_TRUE(moved.held());
  }
  EXPECT_EQ(state(), "FREE");
  std::optional<Lock> again = client_.lock("x");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->release());
  EXPECT_FALSE(again->held());
}

TEST_F(ClientLockTest, WaiterGetsTheLock) {
  std::optional<Lock> first = client_.lock("x");
  ASSERT_TRUE(first);
  std::optional<Lock> second;
  std::thread waits([&] { second = client_.lock("x", {.wait = seconds(20)}); });
  EXPECT_TRUE(eventually([&] { return value("SELECT COUNT(*) FROM lock_ticket") == "1"; }));
  EXPECT_TRUE(first->release());
  waits.join();
  ASSERT_TRUE(second);
  EXPECT_GT(second->token(), first->token());
}

TEST_F(ClientLockTest, ReleaseRingsOnThisHost) {
  const support::TempDir folder;
  ClientSettings here = settings();
  here.runtime_dir = folder.path();
  Client client(here);
  std::optional<Lock> lock = client.lock("x");
  ASSERT_TRUE(lock);
  const peer::LockBell bell(folder.path(), "x");
  const std::uint32_t seen = bell.seen();
  EXPECT_TRUE(lock->release());
  EXPECT_EQ(bell.seen(), seen + 1);
  lock.reset();
  EXPECT_EQ(bell.seen(), seen + 1);
}

TEST_F(ClientLockTest, ALostLockIsReported) {
  std::atomic<bool> told{false};
  std::optional<Lock> lock =
      client_.lock("x", {.ttl = seconds(1), .on_lost = [&](const auto&) { told = true; }});
  ASSERT_TRUE(lock);
  observer_.execute("UPDATE named_lock SET state = 'FREE', epoch = epoch + 1024, lock_by = NULL");
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_FALSE(lock->held());
  EXPECT_FALSE(lock->release());
}

TEST_F(ClientLockTest, ItIsRenewedWhileConnectionsEnd) {
  std::optional<Lock> lock = client_.lock("x", {.ttl = seconds(9)});
  ASSERT_TRUE(lock);
  const std::string first = value("SELECT expire_at FROM named_lock");
  EXPECT_TRUE(eventually([&] { return value("SELECT expire_at FROM named_lock") != first; }));
  end_connections();
  const std::string second = value("SELECT expire_at FROM named_lock");
  EXPECT_TRUE(eventually([&] { return value("SELECT expire_at FROM named_lock") != second; }));
  EXPECT_TRUE(lock->held());
}

}  // namespace
}  // namespace allot::client

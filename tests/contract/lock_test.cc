// SPDX-License-Identifier: Apache-2.0
// Named locks: held by programs; looked at and changed by operators.
#include "contract/fixture.h"
#include "queue/locks/lock_store.h"

namespace allot::contract {
namespace {

class HoldRule : public Rule {
 protected:
  std::string state() { return value("SELECT GROUP_CONCAT(state ORDER BY slot) FROM named_lock"); }
  std::uint64_t taken(const std::string& name = "x", const std::string& slots = {},
                      const std::string& ttl = {}) {
    const Answer answer = interface().take_lock(name, slots, ttl);
    EXPECT_EQ(answer.kind, Kind::kDone) << answer;
    return answer.number;
  }
  void expect_held(const Answer& answer) { EXPECT_EQ(answer.kind, Kind::kFailed) << answer; }
};

TEST_P(HoldRule, OneHolderAtATimeAndTokensGrow) {
  const std::uint64_t token = taken();
  EXPECT_EQ(std::to_string(token), value("SELECT epoch FROM named_lock"));
  EXPECT_EQ(value("SELECT ttl_us FROM named_lock"), "30000000");
  EXPECT_EQ(state(), "LOCKED");
  expect_held(interface().take_lock("x", "", ""));
  EXPECT_EQ(count("lock_ticket"), 0U);
  EXPECT_EQ(interface().release_lock("x", token).kind, Kind::kDone);
  EXPECT_EQ(state(), "FREE");
  EXPECT_EQ(interface().release_lock("x", token).kind, Kind::kBadInput) << "it has it no more";
  const std::uint64_t next = taken();
  EXPECT_GT(next, token);
  EXPECT_EQ(interface().release_lock("x", token).kind, Kind::kBadInput) << "a stale token";
  EXPECT_EQ(state(), "LOCKED");
  EXPECT_EQ(interface().release_lock("x", next).kind, Kind::kDone);
}

TEST_P(HoldRule, ItHasItsSlots) {
  const std::uint64_t first = taken("x", "2", "5m");
  const std::uint64_t second = taken("x", "", "5m");
  EXPECT_EQ(first % 1024, 0U);
  EXPECT_EQ(second % 1024, 1U);
  EXPECT_EQ(value("SELECT MAX(ttl_us) FROM named_lock"), "300000000");
  expect_held(interface().take_lock("x", "2", ""));
  expect_held(interface().take_lock("x", "", ""));
  EXPECT_TRUE(refuses(interface().take_lock("x", "3", ""), "has 2"));
}

TEST_P(HoldRule, NothingIsTakenPastALiveTicket) {
  EXPECT_EQ(interface().release_lock("x", taken()).kind, Kind::kDone);
  queue::draw_ticket(look(), "x", queue::make_holder("", ""));
  expect_held(interface().take_lock("x", "", ""));
  look().execute("UPDATE lock_ticket SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND");
  taken();
}

TEST_P(HoldRule, BadInputIsNamedAndNothingIsMade) {
  struct WrongLock {
    std::string name;
    const char* slots;
    const char* ttl;
    const char* field;
  };
  const WrongLock all[] = {{"", "", "", "name"},      {std::string(256, 'x'), "", "", "name"},
                           {"x", "0", "", "slots"},   {"x", "1025", "", "slots"},
                           {"x", "", "999ms", "ttl"}, {"x", "", "25h", "ttl"}};
  for (const WrongLock& wrong : all) {
    EXPECT_TRUE(refuses(interface().take_lock(wrong.name, wrong.slots, wrong.ttl), wrong.field));
  }
  EXPECT_EQ(count("named_lock"), 0U);
}

RULES_OF(HoldRule, Can::kHoldLocks);

class LockRule : public Rule {
 protected:
  static constexpr const char* kName = "a/b \"c\"";

  void hold(std::uint32_t slots) {
    queue::ensure_lock(look(), kName, slots);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      queue::Holder holder = queue::make_holder("", "");
      holder.host = "h";
      holder.pid = 7;
      const std::uint64_t ticket = queue::draw_ticket(look(), kName, holder);
      queue::TokenFloor floor;
      ASSERT_TRUE(queue::take_lock(
          look(), {kName, slot, ticket, holder, std::chrono::milliseconds(60'000)}, floor));
    }
  }
  std::size_t held() { return interface().lock(kName).document.at("held").size(); }
};

TEST_P(LockRule, ItsHoldersAreShown) {
  hold(2);
  const Answer shown = interface().lock(kName);
  ASSERT_EQ(shown.kind, Kind::kDone) << shown;
  EXPECT_EQ(shown.document.at("name"), kName);
  EXPECT_EQ(shown.document.at("slots"), 2);
  EXPECT_EQ(shown.document.at("waiting"), json::array());
  ASSERT_EQ(shown.document.at("held").size(), 2U);
  EXPECT_EQ(shown.document.at("held")[0].at("host"), "h");
  EXPECT_EQ(shown.document.at("held")[0].at("pid"), 7);
}

TEST_P(LockRule, ItIsTakenFromOneOrAllOfItsHolders) {
  hold(3);
  EXPECT_EQ(interface().break_lock(kName, "7").document.size(), 0U);
  const json one = interface().break_lock(kName, "1").document;
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].at("slot"), 1);
  EXPECT_EQ(held(), 2U);
  EXPECT_EQ(interface().break_lock(kName, "").document.size(), 2U);
  EXPECT_EQ(held(), 0U);
  EXPECT_EQ(interface().break_lock(kName, "").document.size(), 0U);
}

TEST_P(LockRule, ItIsResized) {
  hold(2);
  EXPECT_EQ(interface().resize_lock(kName, "5").document.at("slots"), 5);
  for (const char* slots : {"0", "1025", "many"}) {
    EXPECT_EQ(interface().resize_lock(kName, slots).kind, Kind::kBadInput) << slots;
  }
  EXPECT_EQ(queue::lock_slots(look(), kName), std::optional<std::uint32_t>(5));
}

TEST_P(LockRule, UnknownLockIsNamed) {
  for (const Answer& refused : {interface().lock("missing"), interface().break_lock("missing", ""),
                                interface().resize_lock("missing", "2")}) {
    EXPECT_EQ(refused.kind, Kind::kBadInput) << refused;
    EXPECT_TRUE(names(refused, "missing"));
  }
  EXPECT_EQ(count("named_lock"), 0U);
}

RULES_OF(LockRule, Can::kChangeLocks);

}  // namespace
}  // namespace allot::contract

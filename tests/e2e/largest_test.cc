// SPDX-License-Identifier: Apache-2.0
// Payloads of the largest size that there is, through every door.
#include <gtest/gtest.h>
#include <unistd.h>

#include "e2e/door_fixture.h"
#include "queue/submit/submit.h"

namespace allot::e2e::largest_test {
namespace {

class LargestTest : public DoorFixture {};

TEST_F(LargestTest, ComesOutAsItWentInOrIsRefused) {
  begin();
  put_everywhere({{"large_text", Takes::kText, large(queue::kMaxPayload, 0, 127)},
                  {"large", Takes::kBytes, large(queue::kMaxPayload, 0, 255)}});
}

// With the server's default of 16 MiB there is no room for the statement around the largest.
class SmallPacketTest : public DoorFixture {
 protected:
  void SetUp() override { set("16777216"); }
  void TearDown() override { set("67108864"); }

 private:
  static void set(const std::string& bytes) {
    support::Database::shared().connect().execute("SET GLOBAL max_allowed_packet = " + bytes);
  }
};

TEST_F(SmallPacketTest, WhatTheServerDoesNotTakeIsSaid) {
  begin();
  for (const Door& door : doors_->all()) {
    if (door.takes == Takes::kWords) continue;
    const Order order{.payload = large(queue::kMaxPayload, 0, 127)};
    const std::string error = door.put(order);
    EXPECT_NE(error, "") << door.name;
    // SQL of one's own is the server's to refuse: it hangs up, and may be faster than its words.
    if (error.rfind("error 2006", 0) == 0 || error.rfind("error 2013", 0) == 0) continue;
    EXPECT_NE(error.find("max_allowed_packet"), std::string::npos) << door.name << ": " << error;
  }
  expect_nothing_left("small packet");
  EXPECT_EQ(::access(kept(Order().type).c_str(), F_OK), -1);
}

}  // namespace
}  // namespace allot::e2e::largest_test

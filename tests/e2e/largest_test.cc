// SPDX-License-Identifier: Apache-2.0
// The largest possible payload, on its way to a handler and from one.
#include <gtest/gtest.h>

#include "e2e/door.h"
#include "queue/submit/submit.h"

namespace allot::e2e::largest_test {
namespace {

class LargestTest : public DoorFixture {};

TEST_F(LargestTest, ComesOutAsItWentIn) {
  begin();
  expect_kept_as("large", large(queue::kMaxPayload, 0, 255));
}

// With the server's default of 16 MiB the statement around the largest payload does not fit.
class SmallPacketTest : public DoorFixture {
 protected:
  void SetUp() override { set("16777216"); }
  void TearDown() override { set("67108864"); }

 private:
  static void set(const std::string& bytes) {
    support::Database::shared().connect().execute("SET GLOBAL max_allowed_packet = " + bytes);
  }
};

TEST_F(SmallPacketTest, AHandlerGetsTheErrorForAnOversizedValue) {
  begin();
  const std::string error = pass({.payload = large(queue::kMaxPayload, 0, 127)});
  EXPECT_NE(error.find("max_allowed_packet"), std::string::npos) << error;
  expect_nothing_left("small packet");
}

}  // namespace
}  // namespace allot::e2e::largest_test

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <allot/testing.hpp>

namespace {

TEST(Hello, GreetsByName) {
  allot::test::Handler handler("hello");
  const auto ran = handler.run("Ada");
  EXPECT_EQ(ran.outcome, allot::success());
  EXPECT_EQ(ran.log, "info good day, Ada\n");
}

TEST(Hello, GreetsAsConfigured) {
  allot::test::Handler handler("hello", {{"greeting", "good morning"}});
  EXPECT_EQ(handler.run("Ada").log, "info good morning, Ada\n");
}

TEST(Hello, MissingNameFailsForGood) {
  allot::test::Handler handler("hello");
  EXPECT_EQ(handler.run("").outcome, allot::fail("no name to greet"));
}

TEST(Hello, StopsWhenItIsAskedTo) {
  allot::test::Handler handler("hello");
  handler.request_stop();
  EXPECT_EQ(handler.run("Ada").outcome, allot::retry("stopping"));
}

}  // namespace

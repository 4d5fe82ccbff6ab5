// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "contract/interface.h"

namespace allot::contract {

// A rule that holds whichever interface it is asked through. The suites are instantiated by
// RULES_OF().
class Rule : public testing::TestWithParam<InterfaceKind> {
 protected:
  // Opened at the first call, so that a test can change the world before.
  Interface& interface() {
    if (!interface_) interface_ = GetParam().open(world_);
    return *interface_;
  }
  db::Connection& look() { return world_.look(); }
  std::string value(const std::string& sql) { return support::value_of(look(), sql); }
  std::uint64_t count(const std::string& table) {
    return support::number_of(look(), "SELECT COUNT(*) FROM " + table);
  }
  queue::QueueInfo queue(const std::string& name) {
    return queue::find_queue(look(), name).value();
  }

  // The id of a task that is submitted; expects that it goes well.
  std::string put(const Task& task = {});
  // Does the work of a worker on the only task.
  void lease();     // its partition is leased
  void announce();  // and it has begun
  void detach();    // and runs in a row of its own
  void retry();     // it failed, and waits under another key
  void finish();    // it is done, and its unique key is kept for an hour

  World world_;

 private:
  std::unique_ptr<Interface> interface_;
};

// "delay" is also --delay, and "unique_key" --unique-key.
testing::AssertionResult names(const Answer& answer, const std::string& field);
// Refused as wrong input, with this name or these words in it.
testing::AssertionResult refuses(const Answer& answer, const std::string& field);

#define RULES_OF(suite, can)                                                           \
  INSTANTIATE_TEST_SUITE_P(Interfaces, suite, testing::ValuesIn(interfaces_that(can)), \
                           [](const auto& info) { return std::string(info.param.name); })

}  // namespace allot::contract

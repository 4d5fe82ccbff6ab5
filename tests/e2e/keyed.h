// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "e2e/daemon.h"

namespace allot::e2e {

// A daemon with a queue "keyed" and the handlers of keyed.cc.
class KeyedTest : public testing::Test {
 protected:
  // `shape`: lines below [queues.keyed], and further sections.
  void start(const std::string& shape, unsigned workers);
  void submit(std::vector<nlohmann::json> tasks) const;
  // What the handlers wrote, line by line: "KEY NUMBER".
  [[nodiscard]] std::vector<std::string> done() const;

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;
};

// Numbers of a key in the order in which they were done; the same one again is a task that was
// killed before its acknowledgement.
void expect_in_order(const std::vector<std::string>& lines, int keys, int tasks);

}  // namespace allot::e2e

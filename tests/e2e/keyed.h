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
  // `shape`: lines below [queues.keyed], and additional sections.
  void start(const std::string& shape, unsigned workers);
  void submit(std::vector<nlohmann::json> tasks) const;
  // Lines written by the handlers: "KEY NUMBER".
  [[nodiscard]] std::vector<std::string> done() const;

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;
};

// Checks the order of a key's numbers; a repeated number is a task that was killed before its
// acknowledgement.
void expect_in_order(const std::vector<std::string>& lines, int keys, int tasks);

}  // namespace allot::e2e

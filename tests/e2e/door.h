// SPDX-License-Identifier: Apache-2.0
// Submission by a handler, which requires a daemon; and the bytes that a handler gets. The other
// ways to submit are in tests/contract.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "e2e/daemon.h"

namespace allot::e2e {

// Task that the handler submits; empty keys are omitted.
struct Order {
  std::string queue = "default";
  std::string type = "door.keep.t";
  std::string payload{};
  std::string unique_key{};
  std::string partition_key{};
  int delay_seconds = 0;
};

// A daemon with the plugin that stores payloads and forwards tasks.
class DoorFixture : public testing::Test {
 protected:
  // The daemon asks for its server's settings when it starts.
  void begin();
  // Lets a handler submit it. Returns the refusal; empty: success.
  std::string pass(const Order& order);
  // Submits it from outside, and from a handler: a handler gets it unchanged.
  void expect_kept_as(const std::string& name, const std::string& payload);
  [[nodiscard]] std::string kept(const std::string& type) const { return folder_ / type; }
  // Compares the bytes stored by the handler of this type; prints only sizes, as some are large.
  void expect_kept(const std::string& type, const std::string& bytes) const;
  // All tables exist, and they contain no task.
  void expect_nothing_left(const std::string& after) const;

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;

 private:
  int frames_ = 0;
};

// A text without short repetitions, so that a lost or doubled piece is detected.
std::string large(std::size_t size, unsigned char from, unsigned char to);

}  // namespace allot::e2e

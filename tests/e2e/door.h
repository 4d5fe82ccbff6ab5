// SPDX-License-Identifier: Apache-2.0
// The door that only a daemon has: a handler that submits. And what a handler gets, byte for byte.
// The other ways to submit are in tests/contract.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "e2e/daemon.h"

namespace allot::e2e {

// The task that the handler submits; keys that are empty are none.
struct Order {
  std::string queue = "default";
  std::string type = "door.keep.t";
  std::string payload{};
  std::string unique_key{};
  std::string partition_key{};
  int delay_seconds = 0;
};

// A daemon with the plugin that keeps payloads and passes tasks on.
class DoorFixture : public testing::Test {
 protected:
  // The daemon asks for its server's settings when it starts.
  void begin();
  // Has a handler submit it. Empty, or the refusal that it got.
  std::string pass(const Order& order);
  // Submits it from outside, and from a handler: a handler gets it as it is.
  void expect_kept_as(const std::string& name, const std::string& payload);
  [[nodiscard]] std::string kept(const std::string& type) const { return folder_ / type; }
  // What the handler of this type left; printed are only sizes, as some are large.
  void expect_kept(const std::string& type, const std::string& bytes) const;
  // All tables are there, and no task is.
  void expect_nothing_left(const std::string& after) const;

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;

 private:
  int frames_ = 0;
};

// No part of it repeats soon, so that a lost or doubled piece shows.
std::string large(std::size_t size, unsigned char from, unsigned char to);

}  // namespace allot::e2e

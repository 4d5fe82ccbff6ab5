// SPDX-License-Identifier: Apache-2.0
// A daemon with the plugin that keeps payloads, all doors into it, and what has to hold afterwards.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "e2e/door.h"

namespace allot::e2e {

struct Payload {
  std::string name;
  Takes needs;  // the least that a door has to take
  std::string bytes;
};

// No part of it repeats soon, so that a lost or doubled piece shows.
std::string large(std::size_t size, unsigned char from, unsigned char to);

class DoorFixture : public testing::Test {
 protected:
  // The daemon asks for its server's settings when it starts.
  void begin();
  // Each payload through each door: it comes out as it went in, or the door refuses it.
  void put_everywhere(const std::vector<Payload>& payloads);
  [[nodiscard]] std::string kept(const std::string& type) const { return folder_ / type; }
  // What the handler of this type left; printed are only sizes, as some are large.
  void expect_kept(const std::string& type, const std::string& bytes) const;
  // All tables are there, and no task is.
  void expect_nothing_left(const std::string& after) const;

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Doors> doors_;
};

}  // namespace allot::e2e

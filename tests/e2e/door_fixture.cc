// SPDX-License-Identifier: Apache-2.0
#include "e2e/door_fixture.h"

#include <unistd.h>

#include "support/eventually.h"

namespace allot::e2e {
namespace {

using support::eventually;

const char* const kTables[] = {"task",           "task_dead",    "task_unique",
                               "task_running",   "queue",        "task_moved",
                               "fair_partition", "q_lock_table", "task_cancel"};

bool is_text(const Payload& payload) {
  return payload.name != "words" && payload.needs != Takes::kBytes;
}

bool takes(const Door& door, const Payload& payload) {
  return door.takes == Takes::kText ? is_text(payload) : payload.needs <= door.takes;
}

}  // namespace

std::string large(std::size_t size, unsigned char from, unsigned char to) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(from + (i * 7 + i / 256) % (to - from + 1U));
  }
  return bytes;
}

void DoorFixture::begin() {
  daemon_ = std::make_unique<Daemon>(
      DaemonOptions{.workers = 1,
                    .more = "[queues.fair]\nplacement = \"fair\"\npartitions = 32\n"
                            "[plugins.door]\noutput = \"" +
                            folder_.path() + "\"\n",
                    .plugins = ALLOT_DOOR_FOLDER,
                    .log_level = "info"});
  ASSERT_TRUE(eventually([&] { return daemon_->count("queue") == 2; })) << daemon_->log();
  doors_ = std::make_unique<Doors>(*daemon_, support::Database::shared().socket());
}

void DoorFixture::put_everywhere(const std::vector<Payload>& payloads) {
  for (const Payload& payload : payloads) {
    for (const Door& door : doors_->all()) {
      Order order{.type = "door.keep." + door.name + "." + payload.name, .payload = payload.bytes};
      // A command line has no NUL, and ends at 128 KB: there is nothing to try.
      if (door.takes == Takes::kWords && payload.needs != Takes::kWords) continue;
      const std::string error = door.put(order);
      if (takes(door, payload)) {
        EXPECT_EQ(error, "") << order.type;
        if (error.empty()) expect_kept(order.type, payload.bytes);
        continue;
      }
      // The procedure's argument is text: the server refuses what is none, before the procedure
      // runs.
      const std::string refuses = door.name == "ndjson" ? door.refuses : "error 1366: ";
      const char* const why = door.name == "ndjson" ? "not JSON, at byte " : "p_tasks";
      EXPECT_EQ(error.rfind(refuses, 0), 0U) << order.type << ": " << error;
      EXPECT_NE(error.find(why), std::string::npos) << order.type << ": " << error;
    }
  }
}

void DoorFixture::expect_kept(const std::string& type, const std::string& bytes) const {
  ASSERT_TRUE(
      eventually([&] { return ::access(kept(type).c_str(), F_OK) == 0; }, std::chrono::seconds(60)))
      << type << "\n"
      << daemon_->log();
  const std::string came = support::read_file(kept(type));
  EXPECT_EQ(came.size(), bytes.size()) << type;
  EXPECT_TRUE(came == bytes) << type;
  ::unlink(kept(type).c_str());
}

void DoorFixture::expect_nothing_left(const std::string& after) const {
  EXPECT_TRUE(eventually([&] { return daemon_->drained(); })) << after << daemon_->log();
  for (const char* table : kTables) EXPECT_NO_THROW((void)daemon_->count(table)) << after;
  EXPECT_EQ(daemon_->count("task_dead"), 0U) << after;
  EXPECT_EQ(daemon_->count("queue"), 2U) << after;
}

}  // namespace allot::e2e

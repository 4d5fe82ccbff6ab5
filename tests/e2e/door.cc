// SPDX-License-Identifier: Apache-2.0
#include "e2e/door.h"

#include <unistd.h>

#include <chrono>

#include "support/eventually.h"

namespace allot::e2e {
namespace {

using support::eventually;

const char* const kTables[] = {"task",           "task_dead",    "task_unique",
                               "task_running",   "queue",        "task_moved",
                               "fair_partition", "q_lock_table", "task_cancel"};

bool appears(const std::string& file) {
  return eventually([&] { return ::access(file.c_str(), F_OK) == 0; }, std::chrono::seconds(60));
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
}

std::string DoorFixture::pass(const Order& order) {
  std::string frame;
  for (const std::string& field : {order.queue, order.type, order.unique_key, order.partition_key,
                                   std::to_string(order.delay_seconds)}) {
    frame += field + std::string(1, '\0');
  }
  const std::string file =
      folder_.write("frame" + std::to_string(++frames_), frame + order.payload);
  static_cast<void>(daemon_->submit("door.pass", file));
  if (!appears(file + ".told")) return "no answer: " + daemon_->log();
  return support::read_file(file + ".told");
}

void DoorFixture::expect_kept_as(const std::string& name, const std::string& payload) {
  const std::string type = "door.keep." + name;
  const auto done = daemon_->allot({"submit", "default", type, "-"}, payload);
  ASSERT_EQ(done.status, (support::ExitStatus{0, 0})) << name << done.err;
  expect_kept(type, payload);
  EXPECT_EQ(pass({.type = type, .payload = payload}), "") << name;
  expect_kept(type, payload);
}

void DoorFixture::expect_kept(const std::string& type, const std::string& bytes) const {
  ASSERT_TRUE(appears(kept(type))) << type << "\n" << daemon_->log();
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

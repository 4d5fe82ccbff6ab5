// SPDX-License-Identifier: Apache-2.0
// Hostile input through every door: it comes out byte for byte, or is refused with the name of its
// field, and nothing else changes.
#include "e2e/door.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "e2e/daemon.h"
#include "queue/submit.h"

namespace allot::e2e::door_test {
namespace {

using support::eventually;

const char* const kInjection = "x'); DROP TABLE task; -- ";
const char* const kTables[] = {"task",           "task_dead",    "task_unique",
                               "task_running",   "queue",        "task_moved",
                               "fair_partition", "q_lock_table", "task_cancel"};

struct Payload {
  std::string name;
  Takes needs;  // the least that a door has to take
  std::string bytes;
};

std::string all_bytes() {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  return all;
}

// No part of it repeats soon, so that a lost or doubled piece shows.
std::string large(std::size_t size, unsigned char from, unsigned char to) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(from + (i * 7 + i / 256) % (to - from + 1U));
  }
  return bytes;
}

std::vector<Payload> payloads() {
  const std::size_t most = queue::kMaxPayload;
  return {
      {"empty", Takes::kWords, ""},
      {"quotes", Takes::kWords, "'\"`\\'\\\\\"\\"},
      {"percent", Takes::kWords, "%s%n%%d%00 :queue_id ? @id ${x} $(x)\r\n\x1a"},
      {"sql", Takes::kWords, std::string(kInjection) + "\\'; DELETE FROM queue; # /*! x */"},
      {"option", Takes::kWords, "--delay=5m"},
      {"unicode", Takes::kWords, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x84\xc2\x80\xef\xbf\xbf"},
      {"json", Takes::kWords, R"({"payload": ["\u0000", "\\"], "queue": 1})"},
      {"words", Takes::kWords, all_bytes().substr(1)},
      {"nul", Takes::kText, std::string("\0a\0\0b\0", 6)},
      {"control", Takes::kText, all_bytes().substr(0, 128)},
      {"all", Takes::kBytes, all_bytes() + all_bytes()},
      {"invalid", Takes::kBytes, "\xff\xfe\xc3\x28\xed\xa0\x80\xf5\xbf\x5c'"},
      {"large_text", Takes::kText, large(most, 0, 127)},
      {"large", Takes::kBytes, large(most, 0, 255)},
  };
}

bool is_text(const Payload& payload) {
  return payload.name != "words" && payload.needs != Takes::kBytes;
}

bool takes(const Door& door, const Payload& payload) {
  return door.takes == Takes::kText ? is_text(payload) : payload.needs <= door.takes;
}

// As "unique_key" is also --unique-key.
bool names(std::string error, const std::string& field) {
  std::replace(error.begin(), error.end(), '-', '_');
  return error.find(field) != std::string::npos;
}

class DoorTest : public testing::Test {
 protected:
  // The daemon asks for its server's settings when it starts.
  void begin() {
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
  [[nodiscard]] std::string value(const std::string& sql) const {
    auto db = daemon_->connect();
    auto results = db.execute(sql);
    const auto row = results.front().next();
    return row ? std::string(row->text(0)) : "no row";
  }
  [[nodiscard]] std::string kept(const std::string& type) const { return folder_ / type; }
  // Compares what the handler of this type left; prints only sizes, because some payloads are
  // large.
  void expect_kept(const std::string& type, const std::string& bytes) const {
    ASSERT_TRUE(eventually([&] { return ::access(kept(type).c_str(), F_OK) == 0; },
                           std::chrono::seconds(60)))
        << type << "\n"
        << daemon_->log();
    const std::string came = support::read_file(kept(type));
    EXPECT_EQ(came.size(), bytes.size()) << type;
    EXPECT_TRUE(came == bytes) << type;
    ::unlink(kept(type).c_str());
  }
  // All tables are there, and no task is.
  void expect_nothing_left(const std::string& after) const {
    EXPECT_TRUE(eventually([&] { return daemon_->drained(); })) << after << daemon_->log();
    for (const char* table : kTables) EXPECT_NO_THROW((void)daemon_->count(table)) << after;
    EXPECT_EQ(daemon_->count("task_dead"), 0U) << after;
    EXPECT_EQ(daemon_->count("queue"), 2U) << after;
  }

  support::TempDir folder_;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Doors> doors_;
};

TEST_F(DoorTest, EveryPayloadComesOutAsItWentInOrIsRefused) {
  begin();
  for (const Payload& payload : payloads()) {
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
      // The procedure's argument is text: the server refuses bytes that are no text before the
      // procedure runs.
      const std::string refuses = door.name == "ndjson" ? door.refuses : "error 1366: ";
      const char* const why = door.name == "ndjson" ? "not JSON, at byte " : "p_tasks";
      EXPECT_EQ(error.rfind(refuses, 0), 0U) << order.type << ": " << error;
      EXPECT_NE(error.find(why), std::string::npos) << order.type << ": " << error;
    }
  }
  expect_nothing_left("payloads");
}

struct Wrong {
  const char* field;
  void (*spoil)(Order&);
};

const Wrong kWrong[] = {
    {"queue", [](Order& order) { order.queue = std::string(64, 'q'); }},
    {"queue", [](Order& order) { order.queue = kInjection; }},
    {"type", [](Order& order) { order.type = "door.keep." + std::string(54, 't'); }},
    {"type", [](Order& order) { order.type = kInjection; }},
    {"type", [](Order& order) { order.type = ""; }},
    {"unique_key", [](Order& order) { order.unique_key = std::string(256, 'k'); }},
    {"partition_key", [](Order& order) { order.partition_key = std::string(256, 'k'); }},
    {"delay", [](Order& order) { order.delay_seconds = -5; }},
    {"dellay", [](Order& order) { order.unknown = "dellay"; }},
    {"payload", [](Order& order) { order.payload.assign(queue::kMaxPayload + 1, 'x'); }},
};

bool can_be_asked(const Door& door, const Order& order) {
  if (!order.unknown.empty() && door.refuses_unknown.empty()) return false;
  const bool options = order.unique_key || order.partition_key || order.delay_seconds != 0;
  if (options && !door.options) return false;
  if (door.takes == Takes::kWords && order.payload.size() > 100'000) return false;
  // A row that an application inserts itself: "Nothing checks them".
  return door.name != "insert" || order.type.size() > 63 || order.type == Order().type;
}

TEST_F(DoorTest, EveryRefusalNamesItsField) {
  begin();
  for (const Wrong& wrong : kWrong) {
    for (const Door& door : doors_->all()) {
      Order order{.payload = "x"};
      wrong.spoil(order);
      if (!can_be_asked(door, order)) continue;
      const std::string error = door.put(order);
      const std::string& refuses = order.unknown.empty() ? door.refuses : door.refuses_unknown;
      EXPECT_EQ(error.rfind(refuses, 0), 0U) << door.name << " " << wrong.field << ": " << error;
      EXPECT_TRUE(names(error, wrong.field)) << door.name << " " << wrong.field << ": " << error;
    }
    expect_nothing_left(wrong.field);
    EXPECT_EQ(daemon_->count("task_unique"), 0U) << wrong.field;
    EXPECT_EQ(::access(kept(Order().type).c_str(), F_OK), -1) << wrong.field;
  }
}

TEST_F(DoorTest, KeysAreBytesAndNothingElse) {
  begin();
  const std::string keys[] = {kInjection, "\\'; DELETE FROM queue; #", "%s`\"\\\\",
                              "k ",       "\xc3\xa9' OR ''='",         std::string(255, '\'')};
  std::size_t submitted = 0;
  for (const Door& door : doors_->all()) {
    if (!door.options) continue;
    for (const std::string& key : keys) {
      Order order{.queue = "fair", .type = "door.keep." + door.name, .payload = key};
      order.unique_key = key.size() == 255 ? key : door.name + key;
      order.partition_key = key;
      if (key.size() == 255) order.unique_key->replace(0, door.name.size(), door.name);
      ASSERT_EQ(door.put(order), "") << door.name << key;
      expect_kept(order.type, key);
      EXPECT_EQ(value("SELECT COUNT(*) FROM task_unique WHERE unique_key = " +
                      db::Statement::quoted(*order.unique_key)),
                "1")
          << door.name << key;
      EXPECT_EQ(value("SELECT COUNT(*) FROM fair_partition WHERE partition_key = " +
                      db::Statement::quoted(key)),
                "1")
          << door.name << key;
      ++submitted;
    }
  }
  EXPECT_EQ(daemon_->count("task_unique"), submitted);
  EXPECT_EQ(daemon_->count("fair_partition WHERE partition_key > ''"), std::size(keys));
  expect_nothing_left("keys");
}

TEST_F(DoorTest, TheReasonOfACancelIsText) {
  begin();
  const std::string reasons[] = {kInjection, "\\', ''); DELETE FROM queue; #", "%s%n`\"\\",
                                 "\xc3\xa9\xf0\x9f\x8e\x84"};
  using Cancel = std::function<std::string(const std::string&, const std::string&)>;
  const Cancel cancels[] = {
      [&](const std::string& id, const std::string& reason) {
        return daemon_->allot({"task", "cancel", id, "--reason=" + reason}).err;
      },
      [&](const std::string& id, const std::string& reason) {
        return error_of([&] { doors_->client().cancel(id, reason); });
      },
      [&](const std::string& id, const std::string& reason) {
        Application app = doors_->connect();
        return app.run("SET NAMES utf8mb4") +
               app.run("CALL allot_cancel(" + db::Statement::quoted(id) + ", " +
                       db::Statement::quoted(reason) + ", @result)");
      }};
  for (const Cancel& cancel : cancels) {
    for (const std::string& reason : reasons) {
      NewTask task{.queue = "default", .type = "door.keep.never", .payload = kInjection};
      task.options.delay = std::chrono::hours(1);
      const std::string id = doors_->client().submit(task).id;
      EXPECT_EQ(cancel(id, reason), "") << reason;
      const auto info = doors_->client().get(id);
      ASSERT_TRUE(info) << reason;
      EXPECT_EQ(info->state, TaskState::kDead) << reason;
      EXPECT_EQ(info->error, reason);
      EXPECT_EQ(info->payload, kInjection);
    }
  }
  EXPECT_EQ(daemon_->count("task_dead"), std::size(cancels) * std::size(reasons));
  EXPECT_EQ(daemon_->count("task"), 0U);
  EXPECT_EQ(daemon_->count("queue"), 2U);
}

// With the server's default of 16 MiB there is no room for the statement around the largest.
class SmallPacketTest : public DoorTest {
 protected:
  void SetUp() override { set("16777216"); }
  void TearDown() override { set("67108864"); }

 private:
  static void set(const std::string& bytes) {
    support::Database::shared().connect().execute("SET GLOBAL max_allowed_packet = " + bytes);
  }
};

TEST_F(SmallPacketTest, WhatTheServerDoesNotTakeIsSaid) {
  begin();
  for (const Door& door : doors_->all()) {
    if (door.takes == Takes::kWords) continue;
    const Order order{.payload = large(queue::kMaxPayload, 0, 127)};
    const std::string error = door.put(order);
    EXPECT_NE(error, "") << door.name;
    // The server refuses an application's own SQL: it hangs up, and may be faster than its message.
    if (error.rfind("error 2006", 0) == 0 || error.rfind("error 2013", 0) == 0) continue;
    EXPECT_NE(error.find("max_allowed_packet"), std::string::npos) << door.name << ": " << error;
  }
  expect_nothing_left("small packet");
  EXPECT_EQ(::access(kept(Order().type).c_str(), F_OK), -1);
}

}  // namespace
}  // namespace allot::e2e::door_test

// SPDX-License-Identifier: Apache-2.0
// Hostile input through every door: it comes out byte for byte, or is refused with the name of its
// field, and nothing else changes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "e2e/door_fixture.h"
#include "queue/submit/submit.h"

namespace allot::e2e::door_test {
namespace {

using support::eventually;

const char* const kInjection = "x'); DROP TABLE task; -- ";

std::string all_bytes() {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  return all;
}

std::vector<Payload> payloads() {
  constexpr std::size_t kLong = 524288;  // the largest are in largest_test.cc
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
      {"long_text", Takes::kText, large(kLong, 0, 127)},
      {"long", Takes::kBytes, large(kLong, 0, 255)},
  };
}

class DoorTest : public DoorFixture {};

TEST_F(DoorTest, EveryPayloadComesOutAsItWentInOrIsRefused) {
  begin();
  put_everywhere(payloads());
}

// As "unique_key" is also --unique-key.
bool names(std::string error, const std::string& field) {
  std::replace(error.begin(), error.end(), '-', '_');
  return error.find(field) != std::string::npos;
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
      EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM task_unique WHERE unique_key = " +
                               db::Statement::quoted(*order.unique_key)),
                "1")
          << door.name << key;
      EXPECT_EQ(daemon_->value("SELECT COUNT(*) FROM fair_partition WHERE partition_key = " +
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

}  // namespace
}  // namespace allot::e2e::door_test

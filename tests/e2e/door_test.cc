// SPDX-License-Identifier: Apache-2.0
// Hostile input on its way to a handler, and from a handler that submits: it arrives byte for byte,
// or is refused with the name of its field, and nothing else changes.
#include "e2e/door.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "db/statement.h"
#include "queue/submit/submit.h"

namespace allot::e2e::door_test {
namespace {

const char* const kInjection = "x'); DROP TABLE task; -- ";

std::string all_bytes() {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  return all;
}

class DoorTest : public DoorFixture {};

TEST_F(DoorTest, AHandlerGetsEveryPayloadAsItIs) {
  begin();
  const std::pair<const char*, std::string> payloads[] = {
      {"empty", ""},
      {"quotes", "'\"`\\'\\\\\"\\"},
      {"sql", std::string(kInjection) + "\\'; DELETE FROM queue; # /*! x */"},
      {"nul", std::string("\0a\0\0b\0", 6)},
      {"all", all_bytes() + all_bytes()},
      {"invalid", "\xff\xfe\xc3\x28\xed\xa0\x80\xf5\xbf\x5c'"},
      {"long", large(524'288, 0, 255)}};  // the largest are in largest_test.cc
  for (const auto& [name, payload] : payloads) expect_kept_as(name, payload);
}

struct Wrong {
  const char* field = nullptr;
  Order order;
};

TEST_F(DoorTest, EveryRefusalOfAHandlersTaskNamesItsField) {
  begin();
  const Wrong all[] = {{"queue", {.queue = std::string(64, 'q')}},
                       {"queue", {.queue = kInjection}},
                       {"type", {.type = "door.keep." + std::string(118, 't')}},
                       {"type", {.type = kInjection}},
                       {"type", {.type = ""}},
                       {"unique_key", {.unique_key = std::string(256, 'k')}},
                       {"partition_key", {.partition_key = std::string(256, 'k')}},
                       {"delay", {.delay_seconds = -5}},
                       {"payload", {.payload = std::string(queue::kMaxPayload + 1, 'x')}}};
  for (const Wrong& wrong : all) {
    const std::string error = pass(wrong.order);
    EXPECT_EQ(error.rfind("code 2: ", 0), 0U) << wrong.field << ": " << error;
    EXPECT_NE(error.find(wrong.field), std::string::npos) << wrong.field << ": " << error;
  }
  expect_nothing_left("refusals");
  EXPECT_EQ(daemon_->count("task_unique"), 0U);
  EXPECT_EQ(::access(kept(Order().type).c_str(), F_OK), -1);
}

TEST_F(DoorTest, KeysOfAHandlersTaskAreBytesAndNothingElse) {
  begin();
  const std::string keys[] = {kInjection, "\\'; DELETE FROM queue; #", "%s`\"\\\\",
                              "k ",       "\xc3\xa9' OR ''='",         std::string(255, '\'')};
  for (const std::string& key : keys) {
    ASSERT_EQ(pass({.queue = "fair", .payload = key, .unique_key = key, .partition_key = key}), "")
        << key;
    expect_kept(Order().type, key);
    for (const char* found :
         {"task_unique WHERE unique_key = ", "fair_partition WHERE partition_key = "}) {
      EXPECT_EQ(daemon_->count(found + db::Statement::quoted(key)), 1U) << key;
    }
  }
  EXPECT_EQ(daemon_->count("task_unique"), std::size(keys));
  EXPECT_EQ(daemon_->count("fair_partition WHERE partition_key > ''"), std::size(keys));
  expect_nothing_left("keys");
}

}  // namespace
}  // namespace allot::e2e::door_test

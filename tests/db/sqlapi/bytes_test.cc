// SPDX-License-Identifier: Apache-2.0
// A payload is bytes, through every way in except the command line (tests/db/cli has that).
#include <functional>

#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class BytesTest : public SqlApiTest {
 protected:
  // Every way in, by name; each puts one payload into the queue "narrow".
  struct Door {
    const char* name;
    std::function<void(const std::string&)> put;
  };
  std::vector<Door> doors() {
    return {{"submit()",
             [this](const std::string& payload) {
               const std::vector<queue::Submission> one{{narrow_, "t", payload, {}}};
               queue::submit(app_, one);
             }},
            {"allot_submit",
             [this](const std::string& payload) { call_submit(app_, "narrow", "t", payload); }},
            {"allot_submit, unique",
             [this](const std::string& payload) {
               call_submit(app_, "narrow", "t", payload, unique("k"));
             }},
            {"INSERT", [this](const std::string& payload) {
               app_.execute(
                   "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
                   " VALUES (" +
                   std::to_string(narrow_.queue_id) +
                   ", 0, 1,"
                   " (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + 17,"
                   " 't', _binary" +
                   db::Statement::quoted(payload) + ")");
             }}};
  }
  void expect_back(const std::string& payload) {
    for (const Door& door : doors()) {
      look_.execute("DELETE FROM task; DELETE FROM task_unique");
      door.put(payload);
      const std::string back = value("SELECT payload FROM task");
      EXPECT_EQ(back.size(), payload.size()) << door.name;
      EXPECT_TRUE(back == payload) << door.name;  // not printed: some are large
    }
  }
};

TEST_F(BytesTest, AnyComeOutAsTheyWentIn) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (const std::string& payload :
       {std::string(), std::string("\0", 1), all, std::string("\xff\xfe\xc3\x28\xed\xa0\x80\xbf'"),
        std::string("'; DROP TABLE task; -- "), std::string("\\'; DELETE FROM queue; #"),
        std::string("\"/**/OR 1=1"), std::string("`task` :queue_id ?"), std::string("\\"),
        std::string(" a "), std::string("%s%n\r\n\x1a")}) {
    expect_back(payload);
  }
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue"), "2");
}

TEST_F(BytesTest, TheLargestComesOutAsItWentIn) {
  std::string largest(queue::kMaxPayload, '\0');
  for (std::size_t i = 0; i < largest.size(); ++i) {
    largest[i] = static_cast<char>((i * 7 + i / 256) & 0xffU);
  }
  expect_back(largest);
  const std::string told = refusal("t", largest + "x");
  EXPECT_NE(told.find("payload of 16777216 bytes: the most is 16 MiB - 1"), std::string::npos)
      << told;
}

TEST_F(BytesTest, SqlInAUniqueKeyIsAKey) {
  for (const char* key : {"'; DROP TABLE task; -- ", "\\\\'", "`x`", "k\\u0000", "k", "k ", "K"}) {
    const Made made = call_submit(app_, "default", "t", key, unique(key));
    EXPECT_FALSE(made.existed) << key;
    EXPECT_EQ(call_submit(app_, "default", "t", "x", unique(key)).id, made.id);
  }
  EXPECT_EQ(keys(), 7U);
  EXPECT_EQ(
      value("SELECT COUNT(*) FROM task_unique WHERE unique_key = '\\'; DROP TABLE task; -- '"),
      "1");
  EXPECT_EQ(value("SELECT COUNT(*) FROM task_unique WHERE unique_key = X'6b00'"), "1");
  // The same bytes from C++ are the same key.
  queue::Submission task{default_, "t", "x", {}};
  task.options.unique_key = std::string("k\0", 2);
  EXPECT_TRUE(queue::submit(look_, {&task, 1}).front().existed);
}

}  // namespace
}  // namespace allot::sqlapi

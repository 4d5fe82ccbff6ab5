// SPDX-License-Identifier: Apache-2.0
// MariaDB 11.4.5 and similar versions: JSON_UNQUOTE turns characters beyond U+FFFF into '?'
// (MDEV-35614). A server without the defect simulates it here: each call of the function in the
// procedures is replaced by a function that has it.
#include "db/sqlapi/fixture.h"
#include "support/server_program.h"
#include "support/text.h"

namespace allot::sqlapi {
namespace {

class UnquoteTest : public testing::Test {
 protected:
  UnquoteTest() : db_(support::Database::shared().connect(name_)) {
    (void)queue::ensure_queue(db_, "default", {4});
    if (!support::on_mysql()) give_it_the_fault();
  }

  [[nodiscard]] std::string value(const std::string& sql) { return support::value_of(db_, sql); }

  const std::string name_ = support::Database::shared().make_database();
  db::Connection db_;

 private:
  void give_it_the_fault() {
    db_.execute(
        "CREATE FUNCTION faulty_unquote(p_text LONGTEXT CHARACTER SET utf8mb4)"
        " RETURNS LONGTEXT CHARACTER SET utf8mb4 NO SQL RETURN"
        R"( REGEXP_REPLACE(JSON_UNQUOTE(p_text), '[\\x{10000}-\\x{10FFFF}]', '?'))");
    ASSERT_EQ(value("SELECT faulty_unquote('\"a\xf0\x9f\x98\x80\"')"), "a?");
    std::vector<std::string> names;
    auto found = db_.execute(
        "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()"
        " AND routine_type = 'PROCEDURE' AND routine_definition LIKE '%JSON_UNQUOTE%'");
    while (const auto row = found.front().next()) names.emplace_back(row->text(0));
    for (const std::string& name : names) {
      auto shown = db_.execute("SHOW CREATE PROCEDURE " + name);
      const std::string text(shown.front().next()->text(2));
      db_.execute("DROP PROCEDURE " + name);
      db_.execute(support::replaced(text, "JSON_UNQUOTE", "faulty_unquote"));
    }
  }
};

// The character itself, and the escapes written by most libraries.
constexpr const char* kSmile = "\xf0\x9f\x98\x80";
constexpr const char* kGrin = "\xf0\x9f\x98\x81";
constexpr const char* kEscapedGrin = R"(\ud83d\ude01)";

TEST_F(UnquoteTest, TwoUniqueKeysStayTwo) {
  EXPECT_FALSE(call_submit(db_, "default", "t", "", unique(kSmile)).existed);
  EXPECT_FALSE(call_submit(db_, "default", "t", "", unique(kGrin)).existed);
  EXPECT_TRUE(call_submit(db_, "default", "t", "", unique(kEscapedGrin)).existed);
  EXPECT_TRUE(call_submit(db_, "default", "t", "", unique(kSmile)).existed);
  EXPECT_EQ(value("SELECT COUNT(*) FROM task"), "2");
}

TEST_F(UnquoteTest, InAListKeysTypesAndPayloadsAreWhatTheyAre) {
  const auto line = [](const std::string& text) {
    return R"({"queue":"default","type":"t","payload":")" + text + R"(","unique_key":")" + text +
           "\"}";
  };
  const auto made = call_submit_many(
      db_, "[" + line(kSmile) + "," + line(kEscapedGrin) + "," + line(kSmile) + "]");
  EXPECT_FALSE(made[0]["existed"].get<bool>());
  EXPECT_FALSE(made[1]["existed"].get<bool>());
  EXPECT_TRUE(made[2]["existed"].get<bool>());
  EXPECT_EQ(value("SELECT GROUP_CONCAT(payload ORDER BY payload) FROM task"),
            std::string(kSmile) + "," + kGrin);
}

TEST_F(UnquoteTest, APayloadThatIsNotAStringIsItsText) {
  for (const std::string text : {"7", "1.25", "true", "null", R"({"a": ["x", 1]})", "[]"}) {
    call_submit_many(db_, R"([{"queue":"default","type":"t","payload":)" + text + "}]");
    EXPECT_EQ(value("SELECT payload FROM task"), text);
    db_.execute("DELETE FROM task");
  }
  call_submit_many(
      db_, R"([{"queue":"default","type":"t"},{"queue":"default","type":"t","payload":""}])");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(HEX(payload)) FROM task"), ",");
}

// Longer than the default result of MySQL's JSON_VALUE, and with each escape.
TEST_F(UnquoteTest, ALongPayloadIsWhole) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += kSmile;
  call_submit_many(
      db_, R"([{"queue":"default","type":"t","payload":"\u0000\"\\\/\b\f\n\r\t \u00e9)" + text +
               " \"}]");
  EXPECT_EQ(value("SELECT payload FROM task"),
            std::string("\0\"\\/\b\f\n\r\t \xc3\xa9", 12) + text + " ");
}

}  // namespace
}  // namespace allot::sqlapi

// SPDX-License-Identifier: Apache-2.0
// What a task gets from its options, and what is refused with which words.
#include <set>

#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

using OptionsTest = SqlApiTest;

// Seconds from now until it is due.
std::string due_in() {
  return "SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), '2025-01-01' +"
         " INTERVAL (run_key >> 12) MICROSECOND) / 60000000) FROM task";
}

TEST_F(OptionsTest, ATaskIsThereUnderItsId) {
  const Made made = call_submit(app_, "default", "mail.send", "hello");
  EXPECT_FALSE(made.existed);
  const auto view = task(made);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->type, "mail.send");
  EXPECT_EQ(view->payload, "hello");
  EXPECT_EQ(view->id.prio, queue::kDefaultPrio);
  EXPECT_EQ(value("SELECT flags + attempt + (first_key IS NOT NULL) FROM task"), "0");
  EXPECT_EQ(keys(), 0U);
  EXPECT_EQ(value(due_in()), "0");
}

TEST_F(OptionsTest, EachOptionDoesWhatItsNameSays) {
  EXPECT_EQ(task(call_submit(app_, "default", "t", "", R"({"prio": 3})"))->id.prio, 3U);
  look_.execute("DELETE FROM task");
  call_submit(app_, "default", "t", "", R"({"delay": "2h"})");
  EXPECT_EQ(value(due_in()), "120");
  look_.execute("DELETE FROM task");
  call_submit(app_, "default", "t", "", R"({"unique_key": "k", "unique_for": "300ms"})");
  EXPECT_EQ(value("SELECT CONCAT(unique_key, keep_us, free_at IS NULL) FROM task_unique"),
            "k3000001");
  EXPECT_EQ(value("SELECT flags FROM task"), std::to_string(queue::kUniqueFlag));
  call_submit(app_, "default", "t", "", unique("l"));
  EXPECT_EQ(value("SELECT keep_us FROM task_unique WHERE unique_key = 'l'"),
            std::to_string(queue::SubmitOptions().unique_for.count()));
}

TEST_F(OptionsTest, AMomentIsOfItsZone) {
  for (const char* at : {"2149-12-31T18:00:00Z", "2149-12-31t19:00:00+01:00",
                         "2149-12-31 12:15:00-05:45", "2149-12-31T17:59:59.999999999Z"}) {
    look_.execute("DELETE FROM task");
    call_submit(app_, "default", "t", "", std::string(R"({"run_at": ")") + at + "\"}");
    // Up to a second is added.
    EXPECT_EQ(value("SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, '2149-12-31 18:00:00', '2025-01-01' +"
                    " INTERVAL (run_key >> 12) MICROSECOND) / 2200000) FROM task"),
              "0")
        << at;
  }
  for (const char* past :
       {"1969-07-20T20:17:40Z", "0001-01-01T00:00:00Z", "0000-12-31T00:00:00Z"}) {
    look_.execute("DELETE FROM task");
    call_submit(app_, "default", "t", "", std::string(R"({"run_at": ")") + past + "\"}");
    EXPECT_EQ(value(due_in()), "0") << past;
  }
}

TEST_F(OptionsTest, TasksSpreadOverThePartitions) {
  std::set<std::uint32_t> partitions;
  for (int i = 0; i < 100; ++i) {
    partitions.insert(task(call_submit(app_, "default", "t", ""))->id.partition.partition_no);
  }
  EXPECT_EQ(partitions.size(), 4U);
  EXPECT_EQ(task(call_submit(app_, "narrow", "t", ""))->id.partition,
            (queue::Partition{narrow_.queue_id, 0}));
}

// The largest ids need all the bytes there are.
TEST_F(OptionsTest, TheIdIsTheSameWordAsEverywhere) {
  look_.execute("INSERT INTO queue VALUES (4294960000, 'far', 65535, UTC_TIMESTAMP(6))");
  for (int i = 0; i < 50; ++i) {
    look_.execute("DELETE FROM task");
    const Made made =
        call_submit(app_, "far", "t", "", R"({"prio": )" + std::to_string(i % 4) + "}");
    const auto id = queue::TaskId::parse(made.id);
    ASSERT_TRUE(id) << made.id;
    EXPECT_EQ(id->text(), made.id);
    EXPECT_EQ(value("SELECT CONCAT_WS('|', queue_id, partition_no, prio, run_key) FROM task"),
              "4294960000|" + std::to_string(id->partition.partition_no) + "|" +
                  std::to_string(i % 4) + "|" + std::to_string(id->first_key));
  }
}

// Every salt may come: 4,096 of them, and not only those that a DOUBLE can tell apart.
TEST_F(OptionsTest, KeysAreWholeNumbers) {
  for (int i = 0; i < 100; ++i) call_submit(app_, "narrow", "t", "");
  EXPECT_EQ(value("SELECT COUNT(DISTINCT run_key & 31) > 10 FROM task"), "1");
}

struct Refused {
  const char* options;
  const char* words;
};

TEST_F(OptionsTest, AWrongOneIsRefusedByName) {
  const Refused cases[] = {
      {"", "options: not JSON"},
      {"{", "options: not JSON"},
      {"[]", "options: not a JSON object"},
      {"null", "options: not a JSON object"},
      {R"({"dellay": "5m"})", R"(options: unknown option "dellay")"},
      {R"({"Prio": 1})", R"(options: unknown option "Prio")"},
      {R"({"a'; DROP TABLE task; -- ": 1})", R"(unknown option "a'; DROP TABLE task; -- ")"},
      {R"({"prio": 1, "prio": 2})", "options: one of them stands there twice"},
      {R"({"prio": 4})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": -1})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": "1"})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": 1.5})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": null})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": 11111111111111111111111})", "'prio' must be 0 (first) to 3"},
      {R"({"delay": 5})", "'delay' must be a string"},
      {R"({"delay": "-5s"})", R"('delay' is "-5s": not a whole number and a unit)"},
      {R"({"delay": "5"})", R"('delay' is "5": not a whole number and a unit)"},
      {R"({"delay": "s"})", R"('delay' is "s": not a whole number and a unit)"},
      {R"({"delay": "5 s"})", R"('delay' is "5 s": not a whole number and a unit)"},
      {R"({"delay": "5s\n"})", "not a whole number and a unit"},
      {R"({"delay": ""})", R"('delay' is "": not a whole number and a unit)"},
      {R"({"delay": "900000h"})", R"('delay' is "900000h": 0 to a century are allowed)"},
      {R"({"delay": "99999999999999999999s"})", "0 to a century are allowed"},
      {R"({"unique_key": "k", "unique_for": "-1s"})", R"('unique_for' is "-1s": not a whole)"},
      {R"({"unique_for": []})", "'unique_for' must be a string"},
      {R"({"unique_key": ""})", "unique_key of 0 bytes: 1 to 255 are allowed"},
      {R"({"unique_key": 5})", "'unique_key' must be a string"},
      {R"({"delay": "1s", "run_at": "2030-01-01T00:00:00Z"})", "delay and run_at together"},
      {R"({"run_at": 5})", "'run_at' must be a string"},
      {R"({"run_at": "2030-01-01T00:00:00"})", "not a moment with its zone"},
      {R"({"run_at": "2030-01-01"})", "not a moment with its zone"},
      {R"({"run_at": "2030-01-01T00:00:00Z\n"})", "not a moment with its zone"},
      {R"({"run_at": "2030-02-29T00:00:00Z"})", "no such day or time"},
      {R"({"run_at": "2030-13-01T00:00:00Z"})", "no such day or time"},
      {R"({"run_at": "2030-01-00T00:00:00Z"})", "no such day or time"},
      {R"({"run_at": "2030-01-01T24:00:00Z"})", "no such day or time"},
      {R"({"run_at": "2030-01-01T00:00:00+24:00"})", "no such day or time"},
      {R"({"run_at": "2150-01-01T00:00:00Z"})", "'run_at' is the year 2150 or later"},
  };
  for (const Refused& wrong : cases) {
    const std::string told = refusal("t", "x", wrong.options);
    EXPECT_NE(told.find(wrong.words), std::string::npos) << wrong.options << ": " << told;
  }
  EXPECT_NE(refusal("t", "x", unique(std::string(256, 'k'))).find("unique_key of 256 bytes"),
            std::string::npos);
  EXPECT_EQ(tasks(), 0U);
  EXPECT_EQ(keys(), 0U);
}

TEST_F(OptionsTest, AWrongNameIsRefusedAlsoWhereTheSessionIsLax) {
  app_.execute("SET SESSION sql_mode = ''");
  for (const std::string& type :
       {std::string(), std::string(64, 'a'), std::string(100'000, 'a'), std::string("a b"),
        std::string("a\n"), std::string("\xc3\xa9"), std::string("t'; DROP TABLE task; -- "),
        std::string("t\0", 2), std::string("\xff")}) {
    EXPECT_NE(refusal(type, "x").find("1 to 63 of A-Z a-z 0-9 . _ - are allowed"),
              std::string::npos);
  }
  EXPECT_EQ(refusal(std::string(63, 'a'), "x"), "");
  for (const char* queue : {"nope", "", "default ", "DEFAULT", "default' OR ''='"}) {
    const auto error = support::db_error_of([&] { call_submit(app_, queue, "t", "x"); });
    ASSERT_TRUE(error) << queue;
    EXPECT_NE(std::string(error->what()).find(": there is no such queue"), std::string::npos);
  }
  for (const char* none : {"NULL, 't', 'x'", "'default', NULL, 'x'", "'default', 't', NULL"}) {
    const auto error = support::db_error_of(
        [&] { app_.execute("CALL allot_submit(" + std::string(none) + ", NULL, @id, @existed)"); });
    ASSERT_TRUE(error) << none;
    EXPECT_NE(std::string(error->what()).find("NULL"), std::string::npos) << error->what();
  }
  EXPECT_EQ(tasks(), 1U);
}

}  // namespace
}  // namespace allot::sqlapi

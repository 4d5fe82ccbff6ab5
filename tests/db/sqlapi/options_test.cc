// SPDX-License-Identifier: Apache-2.0
// Effect of the options on a task, and messages for wrong ones.
#include <map>
#include <set>

#include "db/sqlapi/fixture.h"
#include "queue/model/compression.h"
#include "queue/operate/resize.h"

namespace allot::sqlapi {
namespace {

using OptionsTest = SqlApiTest;

// Seconds from now until it is due.
std::string due_in() {
  return "SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), '2025-01-01' +"
         " INTERVAL (run_key >> 12) MICROSECOND) / 60000000) FROM task";
}

TEST_F(OptionsTest, TheLastMomentIsTakenAsItIs) {
  call_submit(app_, "default", "t", "", R"({"run_at": "2149-12-31T23:59:59.999999Z"})");
  EXPECT_EQ(value("SELECT (run_key >> 12) - TIMESTAMPDIFF(MICROSECOND, '2025-01-01',"
                  " '2149-12-31 23:59:59.999999') BETWEEN 0 AND 65535 FROM task"),
            "1");
  for (const char* later : {"2150-01-01T00:00:00Z", "2149-12-31T23:59:59.999999-00:01"}) {
    EXPECT_NE(refusal("t", "", std::string(R"({"run_at": ")") + later + "\"}")
                  .find("'run_at' is the year 2150 or later; the latest time is "
                        "2149-12-31T23:59:59.999999Z"),
              std::string::npos)
        << later;
  }
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(OptionsTest, AMomentIsOfItsZone) {
  for (const char* at : {"2149-12-31T18:00:00Z", "2149-12-31t19:00:00+01:00",
                         "2149-12-31 12:15:00-05:45", "2149-12-31T17:59:59.999999999Z"}) {
    observer_.execute("DELETE FROM task");
    call_submit(app_, "default", "t", "", std::string(R"({"run_at": ")") + at + "\"}");
    // Up to a second is added.
    EXPECT_EQ(value("SELECT ROUND(TIMESTAMPDIFF(MICROSECOND, '2149-12-31 18:00:00', '2025-01-01' +"
                    " INTERVAL (run_key >> 12) MICROSECOND) / 2200000) FROM task"),
              "0")
        << at;
  }
  for (const char* past :
       {"1969-07-20T20:17:40Z", "0001-01-01T00:00:00Z", "0000-12-31T00:00:00Z"}) {
    observer_.execute("DELETE FROM task");
    call_submit(app_, "default", "t", "", std::string(R"({"run_at": ")") + past + "\"}");
    EXPECT_EQ(value(due_in()), "0") << past;
  }
}

// The largest ids need all bytes.
TEST_F(OptionsTest, TheIdHasTheSameFormEverywhere) {
  observer_.execute(
      "INSERT INTO queue (queue_id, name, partitions, created_at) VALUES (4294960000, 'far', "
      "65535, UTC_TIMESTAMP(6))");
  for (int i = 0; i < 50; ++i) {
    observer_.execute("DELETE FROM task");
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

// Every salt may occur: all 4,096 of them, and not only those that a DOUBLE can distinguish.
TEST_F(OptionsTest, KeysAreWholeNumbers) {
  for (int i = 0; i < 100; ++i) call_submit(app_, "narrow", "t", "");
  EXPECT_EQ(value("SELECT COUNT(DISTINCT run_key & 31) > 10 FROM task"), "1");
}

TEST_F(OptionsTest, ATaskMayExpireAndBeCompressed) {
  call_submit(app_, "default", "t", "x", R"({"expires_in": "2h", "compression": "gzip"})");
  EXPECT_EQ(value("SELECT CONCAT(flags, TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(6), expires_at))"
                  " FROM task"),
            std::to_string(queue::kGzipFlag) + "119");
  observer_.execute("DELETE FROM task");
  call_submit(app_, "default", "t", "x",
              R"({"expires_at": "2149-12-31T19:00:00.25+01:00", "compression": "zstd",)"
              R"( "unique_key": "k"})");
  EXPECT_EQ(value("SELECT CONCAT_WS('|', flags, expires_at) FROM task"),
            std::to_string(queue::kZstdFlag | queue::kUniqueFlag) + "|2149-12-31 18:00:00.250000");
}

// The original payload is restored, byte for byte, whatever the last byte of the stream is.
TEST_F(OptionsTest, AboveAMeasureThePayloadIsCompressed) {
  const auto stored = [&](const std::string& payload, const char* options) {
    observer_.execute("DELETE FROM task");
    call_submit(app_, "default", "t", payload, options);
    auto results = observer_.execute("SELECT flags, payload FROM task");
    const auto row = results.front().next();
    const auto flags = static_cast<std::uint32_t>(row->u64(0));
    std::string bytes(row->text(1));
    EXPECT_LE(bytes.size(), payload.size());
    EXPECT_EQ(queue::decompress(flags, bytes), payload);
    return flags;
  };
  const std::string text(1000, 'a');
  EXPECT_EQ(stored(text, R"({"compress_above": 999})"), queue::kGzipFlag);
  EXPECT_EQ(stored(text, R"({"compress_above": 1000})"), 0U) << "not larger";
  EXPECT_EQ(stored(text, R"({"compress_above": 0})"), 0U);
  EXPECT_EQ(stored("abc", R"({"compress_above": 1})"), 0U) << "would save nothing";
  std::string bytes;
  for (int i = 0; i < 600; ++i) {  // among this many, several streams end in a space
    bytes += std::string(8, static_cast<char>(i));
    stored(bytes, R"({"compress_above": 1})");
  }
}

std::string keyed(const std::string& key) {
  return R"({"partition_key": ")" + key + "\"}";
}

// MariaDB reads JSON to 32 levels, and rejects deeper texts as invalid.
TEST_F(OptionsTest, AListThatIsTooDeepForTheServerIsRefusedByThatName) {
  const std::string deep = std::string(31, '[') + std::string(31, ']');
  const auto error = support::db_error_of([&] {
    call_submit_many(app_, R"([{"queue": "default", "type": "t", "payload": )" + deep + "}]");
  });
  if (support::on_mysql()) {
    EXPECT_FALSE(error);
    return;
  }
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("at most 32 levels"), std::string::npos)
      << error->what();
  EXPECT_FALSE(call_submit(app_, "default", "t", deep).existed) << "a payload of its own";
}

TEST_F(OptionsTest, AQuietKeyGivesItsPartitionUp) {
  queue::ensure_queue(observer_, "fair", {2, queue::Placement::kFair});
  const auto put = [&](const std::string& key) {
    const Made made = call_submit(app_, "fair", "t", "", keyed(key));
    return queue::TaskId::parse(made.id)->partition.partition_no;
  };
  EXPECT_EQ(put("a"), 0U);
  EXPECT_EQ(put("b"), 1U);
  EXPECT_EQ(put("c"), 0U) << "shared";
  observer_.execute("DELETE FROM task WHERE partition_no = 1");
  EXPECT_EQ(put("d"), 1U);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(partition_key ORDER BY 1) FROM fair_partition"), "a,c,d");
}

// The caller's transaction may be long, and others assign partitions to keys in this time.
TEST_F(OptionsTest, AKeyThatHasItsPartitionIsNotLocked) {
  queue::ensure_queue(observer_, "fair", {2, queue::Placement::kFair});
  call_submit(app_, "fair", "t", "", keyed("a"));
  app_.execute("BEGIN");
  call_submit(app_, "fair", "t", "", keyed("a"));
  observer_.execute(
      "SET innodb_lock_wait_timeout = 1; DELETE FROM fair_partition WHERE partition_key = 'a'");
  app_.execute("COMMIT");
}

TEST_F(OptionsTest, AKeyLeavesAPartitionThatAResizeTakesAway) {
  const auto fair = queue::ensure_queue(observer_, "fair", {4, queue::Placement::kFair});
  const auto put = [&](const std::string& key) {
    const Made made = call_submit(app_, "fair", "t", "", keyed(key));
    return queue::TaskId::parse(made.id)->partition.partition_no;
  };
  for (const std::string key : {"a", "b", "c", "d"}) put(key);
  queue::resize(observer_, fair, 2);
  EXPECT_EQ(put("a"), 0U);
  EXPECT_EQ(put("d"), 0U);
  EXPECT_EQ(put("c"), 1U);
  EXPECT_EQ(put("d"), 0U);
  EXPECT_EQ(put("b"), 1U);
}

struct Misfit {
  const char* queue;
  const char* options;
  const char* words;
};

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
      {R"({"prio": 1, "prio": 2})", "options: an option is given twice"},
      {R"({"unique_key": "a\\\":{:\\\\", "prio": {"a": [1]}, "prio": 2})",
       "an option is given twice"},
      {R"({"prio": {"a": [{"a": 1}, {"a": 2}], "b": {"a": 1}}})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": 4})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": -1})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": "1"})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": 1.5})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": null})", "'prio' must be 0 (first) to 3"},
      {R"({"prio": 11111111111111111111111})", "'prio' must be 0 (first) to 3"},
      {R"({"delay": 5})", "'delay' must be a string"},
      {R"({"delay": "-5s"})", R"('delay' is "-5s": not a duration)"},
      {R"({"delay": "5"})", R"('delay' is "5": not a duration)"},
      {R"({"delay": "s"})", R"('delay' is "s": not a duration)"},
      {R"({"delay": "5 s"})", R"('delay' is "5 s": not a duration)"},
      {R"({"delay": "5s\n"})", "not a duration"},
      {R"({"delay": ""})", R"('delay' is "": not a duration)"},
      {R"({"delay": "900000h"})", R"('delay' is "900000h": 0 to a century are allowed)"},
      {R"({"delay": "99999999999999999999s"})", "0 to a century are allowed"},
      {R"({"unique_key": "k", "unique_for": "-1s"})", R"('unique_for' is "-1s": not a duration)"},
      {R"({"unique_for": []})", "'unique_for' must be a string"},
      {R"({"unique_key": ""})", "unique_key of 0 bytes: 1 to 255 are allowed"},
      {R"({"unique_key": 5})", "'unique_key' must be a string"},
      {R"({"partition_key": ""})", "partition_key of 0 bytes: 1 to 255 are allowed"},
      {R"({"expires_in": "x"})", R"('expires_in' is "x": not a duration)"},
      {R"({"expires_at": "2030"})", R"('expires_at' is "2030": not a time with a zone)"},
      {R"({"expires_in": "1s", "expires_at": "2030-01-01T00:00:00Z"})",
       "expires_in and expires_at exclude each other"},
      {R"({"expires_in": "1s", "delay": "1s"})", "the task expires before it is due"},
      {R"({"expires_at": "2030-01-01T00:00:00Z", "run_at": "2030-01-01T00:00:00Z"})",
       "the task expires before it is due"},
      {R"({"compression": "lz4"})", R"('compression' must be "gzip" or "zstd")"},
      {R"({"compress_above": -1})", "'compress_above' must be a number of bytes"},
      {R"({"compress_above": 16777216})", "'compress_above' must be a number of bytes"},
      {R"({"compress_above": 99999999999999999999})", "'compress_above' must be a number of bytes"},
      {R"({"compress_above": "1k"})", "'compress_above' must be a number of bytes"},
      {R"({"compress_above": null})", "'compress_above' must be a number of bytes"},
      {R"({"delay": "1s", "run_at": "2030-01-01T00:00:00Z"})",
       "delay and run_at exclude each other"},
      {R"({"run_at": 5})", "'run_at' must be a string"},
      {R"({"run_at": "2030-01-01T00:00:00"})", "not a time with a zone"},
      {R"({"run_at": "2030-01-01"})", "not a time with a zone"},
      {R"({"run_at": "2030-01-01T00:00:00Z\n"})", "not a time with a zone"},
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
       {std::string(), std::string(128, 'a'), std::string(100'000, 'a'), std::string("a b"),
        std::string("a\n"), std::string("\xc3\xa9"), std::string("t'; DROP TABLE task; -- "),
        std::string("t\0", 2), std::string("\xff")}) {
    EXPECT_NE(refusal(type, "x").find("1 to 127 of A-Z a-z 0-9 . _ - are allowed"),
              std::string::npos);
  }
  EXPECT_EQ(refusal(std::string(127, 'a'), "x"), "");
  for (const char* queue : {"nope", "", "default ", "DEFAULT", "default' OR ''='"}) {
    const auto error = support::db_error_of([&] { call_submit(app_, queue, "t", "x"); });
    ASSERT_TRUE(error) << queue;
    const char* why = *queue == '\0' ? ": no route takes type 't'" : ": unknown queue";
    EXPECT_NE(std::string(error->what()).find(why), std::string::npos);
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

// SPDX-License-Identifier: Apache-2.0
// allot_queue_figures: figures of a queue for an adapter.
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

class FiguresTest : public SqlApiTest {
 protected:
  // Its row, with `-` for NULL.
  std::string figures(const std::string& queue) {
    auto results = app_.execute("CALL allot_queue_figures(" + db::Statement::quoted(queue) + ")");
    const db::Row row = results.front().one();
    std::string words;
    for (std::size_t i = 0; i < 6; ++i) {
      words += (i == 0 ? "" : " ") + (row.is_null(i) ? "-" : std::string(row.text(i)));
    }
    return words;
  }
  // Tasks of class 2 in a partition of the queue default, the first due this long after the
  // beginning of 2025.
  void insert_tasks(unsigned partition_no, unsigned count, std::uint64_t due_us) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
        std::to_string(default_.queue_id) + ", " + std::to_string(partition_no) + ", 2, " +
        std::to_string(due_us << 12U) + " + seq, 't', '' FROM " + support::numbers(0, count - 1));
  }
  // By all sessions of the server.
  std::uint64_t rows_read() {
    return number("SELECT SUM(variable_value) FROM " +
                  std::string(support::on_mysql() ? "performance_schema" : "information_schema") +
                  ".global_status WHERE variable_name IN ('Handler_read_key', 'Handler_read_next',"
                  " 'Handler_read_rnd_next')");
  }
};

TEST_F(FiguresTest, AnEmptyQueueHasNone) {
  EXPECT_EQ(figures("narrow"), "0 0 - 0 0 0");
}

TEST_F(FiguresTest, EachStateIsCounted) {
  const std::string queue = std::to_string(default_.queue_id);
  insert_tasks(1, 3, 60'000'000);
  call_submit(app_, "default", "t", "");
  call_submit(app_, "default", "t", "", R"({"delay": "1h", "prio": 0})");
  call_submit(app_, "narrow", "t", "");
  observer_.execute(
      "UPDATE q_lock_table SET state = 'LOCKED' WHERE partition_no < 2 AND queue_id = " + queue);
  EXPECT_EQ(figures("default"), "4 1 1735689660 0 2 0");
  const Made dead = call_submit(app_, "default", "t", "");
  app_.execute("CALL allot_cancel('" + dead.id + "', 'not wanted', @result)");
  EXPECT_EQ(figures("default"), "4 1 1735689660 0 2 1");
}

TEST_F(FiguresTest, CountsAndReadsEndAtTheBound) {
  constexpr std::uint64_t kCentury = std::uint64_t{100} * 365 * 86'400 * 1'000'000;
  for (const unsigned partition_no : {1U, 3U}) {
    insert_tasks(partition_no, 10'050, 60'000'000);
    insert_tasks(partition_no, 10'050, kCentury);
  }
  const std::uint64_t before = rows_read();
  EXPECT_EQ(figures("default"), "10000 10000 1735689660 0 0 0");
  // 20,000 of the index, and as many of the tables in which the server counts them; not 80,400.
  EXPECT_LT(rows_read() - before, 42'000U);
}

TEST_F(FiguresTest, AnUnknownQueueIsRefused) {
  const auto error = support::db_error_of([&] { figures("no"); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("queue 'no': unknown queue"), std::string::npos);
}

}  // namespace
}  // namespace allot::sqlapi

// SPDX-License-Identifier: Apache-2.0
// allot-bench-floor SOCKET DATABASE QUEUE_ID FIRST STEP PARTITIONS BLOCK
//
// Minimum work of any MySQL client that processes a table of tasks: read them, delete them. No
// lease, no dispatch, no retry. It drains the partitions FIRST, FIRST + STEP, ... of the table
// bench_floor, which has the shape and the rows of task. All of it is in this file, so that a
// reader who doubts the figures of "allot bench" can check it in a minute.
//
// It uses the fastest correct form, on one connection: DELETE ... IN of the previous block and
// SELECT of the next one in one packet, each with its own commit, READ COMMITTED. (A range DELETE
// is faster and wrong: it would also delete a task that was committed after the SELECT.)
#include <mysql.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Place {
  std::string where;
  unsigned block;
};

[[noreturn]] void fail(MYSQL* db, const char* doing) {
  std::fprintf(stderr, "allot-bench-floor: %s: %s\n", doing, mysql_error(db));
  std::exit(1);
}

// Reads the keys of a block, and its payloads as a handler would get them.
std::vector<std::string> take_block(MYSQL* db, std::size_t& bytes) {
  std::vector<std::string> keys;
  MYSQL_RES* rows = mysql_store_result(db);
  if (rows == nullptr) fail(db, "reading a block");
  while (MYSQL_ROW row = mysql_fetch_row(rows)) {
    keys.emplace_back(row[0]);
    bytes += mysql_fetch_lengths(rows)[2];
  }
  mysql_free_result(rows);
  return keys;
}

std::string select_of(const Place& place) {
  return "SELECT run_key, type, payload FROM bench_floor" + place.where +
         " ORDER BY run_key LIMIT " + std::to_string(place.block);
}

std::string delete_of(const Place& place, const std::vector<std::string>& keys) {
  std::string sql = "DELETE FROM bench_floor" + place.where + " AND run_key IN (" + keys[0];
  for (std::size_t i = 1; i < keys.size(); ++i) sql.append(",").append(keys[i]);
  return sql + ")";
}

void send(MYSQL* db, const std::string& sql) {
  if (mysql_real_query(db, sql.data(), sql.size()) != 0) fail(db, "sending a block");
}

void drain(MYSQL* db, const Place& place, std::size_t& bytes) {
  send(db, select_of(place));
  std::vector<std::string> keys = take_block(db, bytes);
  while (!keys.empty()) {
    send(db, delete_of(place, keys) + ";" + select_of(place));
    if (mysql_next_result(db) != 0) fail(db, "after a DELETE");
    keys = take_block(db, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "allot-bench-floor is started by allot bench\n");
    return 64;
  }
  const auto number = [&](int i) {
    return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10));
  };
  MYSQL* db = mysql_init(nullptr);
  if (mysql_real_connect(db, nullptr, "root", "", argv[2], 0, argv[1], CLIENT_MULTI_STATEMENTS) ==
      nullptr) {
    fail(db, "connecting");
  }
  send(db, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  std::size_t bytes = 0;
  for (unsigned p = number(4); p < number(6); p += number(5)) {
    const std::string where = std::string(" WHERE queue_id = ") + argv[3] +
                              " AND partition_no = " + std::to_string(p) + " AND prio = 1";
    drain(db, {where, number(7)}, bytes);
  }
  mysql_close(db);
  std::printf("%zu\n", bytes);
  return 0;
}

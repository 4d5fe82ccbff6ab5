// SPDX-License-Identifier: Apache-2.0
// A row that an application inserts itself, as in docs/sql-api.md: the payload is bytes. The other
// ways to submit are in tests/contract.
#include "db/sqlapi/fixture.h"

namespace allot::sqlapi {
namespace {

TEST_F(SqlApiTest, AnInsertedRowHasItsBytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string largest;
  while (largest.size() < queue::kMaxPayload) largest += all;
  largest.resize(queue::kMaxPayload);
  for (const std::string& payload : {std::string(), all + "\\'; DELETE FROM queue; #", largest}) {
    observer_.execute("DELETE FROM task");
    app_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES (" +
        std::to_string(narrow_.queue_id) +
        ", 0, 1, (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + 17,"
        " 't', _binary" +
        db::Statement::quoted(payload) + ")");
    EXPECT_TRUE(value("SELECT payload FROM task") == payload);  // not printed: some are large
  }
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue"), "2");
}

}  // namespace
}  // namespace allot::sqlapi

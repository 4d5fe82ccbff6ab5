// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/host_snapshot.h"

#include <cstdint>

#include "db/statement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostSnapshots = 1'000;

}  // namespace

void put_snapshot(db::Connection& db, const Holder& writer, const std::string& state) {
  db::Statement put(sql::k_put_snapshot);
  put.set("origin", writer.origin)
      .set("host", writer.host)
      .set("instance", writer.instance)
      .set("holder", writer.id)
      .set("state", state);
  db.run({put});
}

void remove_snapshot(db::Connection& db, const Holder& writer) {
  db::Statement remove(sql::k_remove_snapshot);
  remove.set("origin", writer.origin).set("holder", writer.id);
  db.run({remove});
}

std::vector<HostSnapshot> list_snapshots(db::Connection& db) {
  db::Statement list(sql::k_list_snapshots);
  list.set("limit", kMostSnapshots);
  return db.read_all(list, [](const db::Row& row) {
    return HostSnapshot{row.string(0), row.string(1), row.string(2),
                        std::chrono::microseconds(row.u64(3)), row.string(4)};
  });
}

}  // namespace allot::queue

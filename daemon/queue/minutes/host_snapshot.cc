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
  auto results = db.run({list});
  std::vector<HostSnapshot> all;
  while (const auto row = results.front().next()) {
    all.push_back({std::string(row->text(0)), std::string(row->text(1)), std::string(row->text(2)),
                   std::chrono::microseconds(row->u64(3)), std::string(row->text(4))});
  }
  return all;
}

}  // namespace allot::queue

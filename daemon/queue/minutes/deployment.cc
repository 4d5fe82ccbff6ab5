// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/deployment.h"

#include "db/statement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostDeployments = 1'000;

std::optional<std::string> maybe_text(const db::Row& row, std::size_t at) {
  if (row.is_null(at)) return std::nullopt;
  return std::string(row.text(at));
}

}  // namespace

void put_deployment(db::Connection& db, const Holder& of, const std::string& version,
                    const std::string& configuration) {
  db::Statement put(sql::k_put_deployment);
  put.set("host", of.host)
      .set("instance", of.instance)
      .set("version", version)
      .set("configuration", configuration);
  db.run({put});
}

std::vector<Deployment> list_deployments(db::Connection& db, std::uint32_t hours) {
  db::Statement list(sql::k_list_deployments);
  list.set("hours", hours).set("limit", kMostDeployments);
  auto results = db.run({list});
  std::vector<Deployment> all;
  while (const auto row = results.front().next()) {
    all.push_back({std::string(row->text(0)), std::string(row->text(1)), std::string(row->text(2)),
                   std::string(row->text(3)), std::string(row->text(4)), maybe_text(*row, 5),
                   maybe_text(*row, 6)});
  }
  return all;
}

}  // namespace allot::queue

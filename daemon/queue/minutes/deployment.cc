// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/deployment.h"

#include "db/statement.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostDeployments = 1'000;

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
  return db.read_all(list, [](const db::Row& row) {
    return Deployment{row.string(0), row.string(1),     row.string(2),    row.string(3),
                      row.string(4), row.maybe_text(5), row.maybe_text(6)};
  });
}

}  // namespace allot::queue

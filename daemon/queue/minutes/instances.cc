// SPDX-License-Identifier: Apache-2.0
#include "queue/minutes/instances.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostInstances = 1'000;  // also snapshots and deployments

db::Statement of_instance(const sql::SqlText& text, const Holder& holder) {
  db::Statement statement(text);
  return statement.set("host", holder.host).set("instance", holder.instance);
}

}  // namespace

std::vector<InstanceRow> list_instances(db::Connection& db) {
  db::Statement list(sql::k_list_instances);
  return db.read_all<InstanceRow>(
      list.set("limit", kMostInstances), [](const db::Row& row, InstanceRow& one) {
        row.read(0, one.host, one.instance, one.version, one.since, one.seen, one.silent);
        one.pools = pools_of(row.string(6));
      });
}

std::string text_of(const std::vector<ServingPool>& pools) {
  std::string text;
  for (const ServingPool& pool : pools) {
    text += pool.name + " " + std::to_string(pool.workers);
    for (const std::string& queue : pool.queues) text += " " + queue;
    text += "\n";
  }
  return text;
}

std::vector<ServingPool> pools_of(const std::string& text) {
  std::vector<ServingPool> pools;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ServingPool pool;
    if (!(words >> pool.name >> pool.workers)) continue;
    for (std::string queue; words >> queue;) pool.queues.push_back(queue);
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::optional<std::vector<std::string>> pools_that_serve(const std::vector<InstanceRow>& instances,
                                                         const std::string& queue) {
  std::optional<std::vector<std::string>> found;
  for (const InstanceRow& instance : instances) {
    if (instance.silent >= kInstanceSilent || instance.pools.empty()) continue;
    if (!found) found.emplace();
    for (const ServingPool& pool : instance.pools) {
      const bool serves =
          std::any_of(pool.queues.begin(), pool.queues.end(),
                      [&](const std::string& one) { return one == queue || one == "*"; });
      if (serves && pool.workers > 0) found->push_back(pool.name + "@" + instance.host);
    }
  }
  return found;
}

void put_deployment(db::Connection& db, const Holder& of, const std::string& version,
                    const std::string& configuration) {
  db.run({of_instance(sql::k_put_deployment, of)
              .set("version", version)
              .set("configuration", configuration)});
}

std::vector<Deployment> list_deployments(db::Connection& db, std::uint32_t hours) {
  db::Statement list(sql::k_list_deployments);
  list.set("hours", hours).set("limit", kMostInstances);
  return db.read_all<Deployment>(list, [](const db::Row& row, Deployment& one) {
    row.read(0, one.host, one.instance, one.since, one.version, one.configuration,
             one.previous_version, one.previous_configuration);
  });
}

void put_snapshot(db::Connection& db, const Holder& writer, const std::string& state) {
  db.run({of_instance(sql::k_put_snapshot, writer)
              .set("origin", writer.origin)
              .set("holder", writer.id)
              .set("state", state)});
}

void remove_snapshot(db::Connection& db, const Holder& writer) {
  db::Statement remove(sql::k_remove_snapshot);
  db.run({remove.set("origin", writer.origin).set("holder", writer.id)});
}

std::vector<HostSnapshot> list_snapshots(db::Connection& db) {
  db::Statement list(sql::k_list_snapshots);
  return db.read_all<HostSnapshot>(
      list.set("limit", kMostInstances), [](const db::Row& row, HostSnapshot& one) {
        row.read(0, one.host, one.instance, one.taken_at, one.age, one.state);
      });
}

}  // namespace allot::queue

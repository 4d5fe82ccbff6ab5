// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "gateway/access/caller.h"
#include "operations/document.h"
#include "operations/reads.h"
#include "operations/route.h"
#include "operations/service.h"
#include "peer/doorbell.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

namespace allot::operations {

// A verb needs a connection that its request has not.
struct NoConnection {};

// One request on its way through a verb: caller, route, parameters and connection. Its values were
// checked against the parameters of its route.
class Call {
 public:
  // Reads and checks query and body. Throws Refusal.
  Call(const Service& service, const Route& route, gateway::access::Caller caller, Values path,
       std::string_view query, const std::string& body);

  [[nodiscard]] const Service& service() const { return service_; }
  [[nodiscard]] const Route& route() const { return route_; }
  // Wakes workers and waiting clients of this host after a change.
  [[nodiscard]] peer::Ringer ringer() const { return peer::Ringer(service_.runtime_dir); }
  [[nodiscard]] const gateway::access::Caller& caller() const { return caller_; }

  // The value of a parameter; empty or nullopt if omitted.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> maybe(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::uint32_t number(std::string_view name, std::uint32_t otherwise) const;
  [[nodiscard]] queue::TaskId id() const;  // {id}

  // Only for a verb with a connection. Throws NoConnection if the request has none yet.
  [[nodiscard]] db::Connection& db() const;
  void use(db::Connection& db) { db_ = &db; }
  // For a page: its reads are shared with other pages, and need no connection of its own.
  void use(Reads& reads) { reads_ = &reads; }
  // How long shared results are used: see Service::share_for.
  enum class CacheTime : std::uint8_t { kState = 1, kFigures = 5 };
  // The result of `read(db)`; for a page, see Reads::get().
  template <typename Read>
  [[nodiscard]] auto shared(const std::string& key, CacheTime cached, const Read& read) const {
    using Result = std::invoke_result_t<Read, db::Connection&>;
    if (reads_ == nullptr) return std::make_shared<const Result>(read(db()));
    return reads_->get(key, static_cast<Nanos>(cached) * service_.share_for, read);
  }
  // All queues, whether or not the caller may see them.
  [[nodiscard]] std::shared_ptr<const std::vector<queue::QueueInfo>> all_queues() const;
  // The actor recorded for this request; nullopt: not a change with the role operate.
  [[nodiscard]] std::optional<db::Actor> actor() const;

  // Reports a change to Service::on_change: what was done, to which object.
  void did(std::string_view what, std::string_view which) const;

  // Whether the caller has the route's role for this queue.
  [[nodiscard]] bool may(std::string_view queue) const {
    return !route_.role || caller_.may(*route_.role, queue);
  }
  // The queue name of a task. Throws Refusal, 404, as if the task did not exist, if the queue is
  // not the caller's.
  [[nodiscard]] std::string queue_of(const queue::TaskId& id) const;
  // The queue {queue}, or the named one. Throws Refusal, 404, if it does not exist or is not the
  // caller's. A writing request creates a queue that only the configuration has.
  [[nodiscard]] queue::QueueInfo queue() const;
  [[nodiscard]] queue::QueueInfo queue(const std::string& name) const;

 private:
  void read_options(const std::string& body);
  void check() const;
  void check(const Parameter& parameter, const std::string& value) const;

  const Service& service_;
  const Route& route_;
  gateway::access::Caller caller_;
  Values values_;
  db::Connection* db_ = nullptr;
  Reads* reads_ = nullptr;
};

[[nodiscard]] Document answer_of(const nlohmann::json& value, unsigned status = 200);
// A page of a list. `next`: cursor of the next page; empty: none.
[[nodiscard]] Document list_of(nlohmann::json items, const std::string& next = {});
// A list of the documents that `show` makes of `rows`.
template <typename Row, typename Show>
[[nodiscard]] Document list_of_each(const std::vector<Row>& rows, const Show& show) {
  std::vector<std::invoke_result_t<const Show&, const Row&>> items;
  for (const Row& row : rows) items.push_back(show(row));
  return list_of(std::move(items));
}

// The message for an unknown queue: names the existing ones, and the most similar one first.
[[nodiscard]] std::string unknown_queue_text(const std::string& name,
                                             std::vector<std::string> known);

// Refuses with 404 for a task.
[[noreturn]] void unknown_task(const queue::TaskId& id);

}  // namespace allot::operations

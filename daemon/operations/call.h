// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "gateway/access/caller.h"
#include "operations/document.h"
#include "operations/route.h"
#include "operations/service.h"
#include "queue/model/catalog.h"
#include "queue/model/task.h"

namespace allot::operations {

// One request on its way through a verb: caller, route, parameters and connection. Its values were
// checked against the parameters of its route.
class Call {
 public:
  // Reads and checks query and body. Throws Refusal.
  Call(const Service& service, const Route& route, gateway::access::Caller caller, Values path,
       std::string_view query, const std::string& body);

  [[nodiscard]] const Service& service() const { return service_; }
  [[nodiscard]] const Route& route() const { return route_; }
  [[nodiscard]] const gateway::access::Caller& caller() const { return caller_; }

  // The value of a parameter; empty or nullopt if omitted.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> maybe(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::uint32_t number(std::string_view name, std::uint32_t otherwise) const;
  [[nodiscard]] queue::TaskId id() const;  // {id}

  // Only for a verb with a connection.
  [[nodiscard]] db::Connection& db() const { return *db_; }
  void use(db::Connection& db) { db_ = &db; }
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
};

[[nodiscard]] Document answer_of(const nlohmann::json& value, unsigned status = 200);
// A short list without pages.
[[nodiscard]] Document whole_list(nlohmann::json items);

// Says that there is no queue of that name, and which ones there are, the most likely one first.
[[nodiscard]] std::string unknown_queue_text(const std::string& name,
                                             std::vector<std::string> known);

// Refuses with 404 for a task.
[[noreturn]] void unknown_task(const queue::TaskId& id);

}  // namespace allot::operations

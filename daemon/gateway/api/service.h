// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "db/connection.h"
#include "gateway/api/hosts.h"
#include "meter/request_record.h"

namespace allot::gateway::api {

// What the verbs have to know of where they run. It stays as it is while the gateway runs.
struct Service {
  db::ConnectOptions database;
  std::vector<config::Queue> queues{};  // those of the configuration
  std::string instance = "allot";
  std::string runtime_dir{};                 // of an instance of this host; empty: there is none
  std::vector<std::string> metrics_types{};  // [metrics] types
  std::string base_path{};  // what a proxy puts before each path: "/allot"; mostly empty
  // The document of all requests. Application makes it once: it takes milliseconds, and the thread
  // that sends it serves all connections.
  std::string openapi{};
  // Computes when schedules run, see schedule::ComputingProcess: this program itself.
  std::vector<std::string> calendar{"/proc/self/exe", "--calendar"};
  bool read_only = false;            // there are no routes that change something
  std::size_t threads = 8;           // that send statements
  std::size_t most_waiting = 1'000;  // jobs for these threads
  // However many scrapes of /metrics there are, the database is asked once in this time.
  Nanos snapshot_for = 5 * kSecond;
  // What verbs of all threads share of the hosts.
  std::shared_ptr<Hosts> hosts = std::make_shared<Hosts>();
  // Where requests are counted; it outlives whoever counts. nullptr: they are counted from 0.
  meter::RequestRecord* requests = nullptr;
};

// The keys of a queue in the configuration; nullptr: it has none.
[[nodiscard]] const config::Queue* configured(const Service& service, const std::string& queue);

}  // namespace allot::gateway::api

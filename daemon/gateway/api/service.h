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

// Environment of the verbs. Constant while the gateway runs.
struct Service {
  db::ConnectOptions database;
  std::vector<config::Queue> queues{};  // queues of the configuration
  std::string instance = "allot";
  std::string runtime_dir{};                 // of an instance of this host; empty: none
  std::vector<std::string> metrics_types{};  // [metrics] types
  std::string base_path{};                   // path prefix of a proxy: "/allot"; mostly empty
  // The OpenAPI document. Generated once, because it takes milliseconds and is sent by the thread
  // that serves all connections.
  std::string openapi{};
  // Command that computes schedules (schedule::ComputingProcess): this program itself.
  std::vector<std::string> calendar{"/proc/self/exe", "--calendar"};
  bool read_only = false;            // without routes that change something
  std::size_t threads = 8;           // number of threads that send statements
  std::size_t most_waiting = 1'000;  // limit of jobs waiting for these threads
  // The database is queried at most once in this time, however many scrapes of /metrics arrive.
  Nanos snapshot_for = 5 * kSecond;
  // Host snapshot, shared by verbs of all threads.
  std::shared_ptr<Hosts> hosts = std::make_shared<Hosts>();
  // Viewers of pages share the states that were read within this duration, and figures that change
  // once a minute and counts of tasks for five times as long.
  Nanos share_for = 2 * kSecond;
  // Shared request counts; outlives every writer. nullptr: counts start from 0.
  meter::RequestRecord* requests = nullptr;
};

// The configuration of a queue; nullptr: the queue is not configured.
[[nodiscard]] const config::Queue* configured(const Service& service, const std::string& queue);

}  // namespace allot::gateway::api

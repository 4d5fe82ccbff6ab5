// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "meter/request_record.h"
#include "operations/service.h"

namespace allot::gateway::api {

// Environment of the API. Constant while the gateway runs.
struct Service : operations::Service {
  db::ConnectOptions database;
  std::vector<std::string> metrics_types{};  // [metrics] types
  // Command that computes schedules (schedule::ComputingProcess): this program itself.
  std::vector<std::string> calendar{"/proc/self/exe", "--calendar"};
  bool read_only = false;            // without routes that change something
  std::size_t threads = 8;           // number of threads that send statements
  std::size_t most_waiting = 1'000;  // limit of jobs waiting for these threads
  // The database is queried at most once in this time, however many scrapes of /metrics arrive.
  Nanos snapshot_for = 5 * kSecond;
  // Shared request counts; outlives every writer. nullptr: counts start from 0.
  meter::RequestRecord* requests = nullptr;
};

}  // namespace allot::gateway::api

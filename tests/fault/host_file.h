// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fault/draw.h"

namespace allot::fault {

// Paths of a host.
struct Place {
  std::string database_keys;  // lines of [database]
  std::string runtime_dir;
  std::string log_file;
  std::string plugins;  // the folder
  std::string traces;   // the file
};

// Configuration of a host of a draw. An operator changes it with each version: the pools are larger
// in odd versions.
std::string host_file(const Draw& draw, unsigned host, unsigned version, const Place& place);
// Number of workers of a pool in that version.
unsigned size_of(const PoolPlan& pool, unsigned version);

}  // namespace allot::fault

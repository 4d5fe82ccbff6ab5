// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fault/draw.h"

namespace allot::fault {

// Where the parts of a host are.
struct Place {
  std::string database_keys;  // lines of [database]
  std::string runtime_dir;
  std::string log_file;
  std::string plugins;  // the folder
  std::string traces;   // the file
};

// The configuration of a host of a draw. An operator changes it with each version: the pools are
// larger in each odd one.
std::string host_file(const Draw& draw, unsigned host, unsigned version, const Place& place);
// How many workers a pool has by that.
unsigned size_of(const PoolPlan& pool, unsigned version);

}  // namespace allot::fault

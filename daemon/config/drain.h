// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/settings.h"

// Configuration of the daemon that `allot drain` starts: another configuration file, except for the
// values here. It is written to its own file, so that the daemon and its workers start like any
// other.
namespace allot::config {

inline constexpr const char* kDrainFile = "allot.drain";  // file name

struct Drain {
  std::string config;  // the other configuration, absolute path; empty: none
  std::string queue;   // the only queue that it serves
  std::uint32_t jobs = 1;
  std::string instance;
  std::string runtime_dir;    // absolute
  bool own_database = false;  // start the embedded one; false: a database runs already
  std::string embedded;       // value of --embedded, absolute path
};

// Lines of KEY=VALUE. Throws Error for a value with a line break.
[[nodiscard]] std::string drain_text(const Drain& drain);

// nullopt if the first of `files` is not a drain file. Throws Error(kExitConfig) if it cannot be
// read.
[[nodiscard]] std::optional<Drain> read_drain(Files& files);

// Applies the drain to the completed settings of the other file.
void narrow(Settings& settings, const Drain& drain);

}  // namespace allot::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/settings.h"

// The configuration of the daemon that `allot drain` starts: that of another file, except for the
// values here. It is written to a file of its own, so that the daemon and its workers start like
// any other.
namespace allot::config {

inline constexpr const char* kDrainFile = "allot.drain";  // the name of such a file

struct Drain {
  std::string config;  // the other configuration, absolute; empty: none
  std::string queue;   // the only queue that it serves
  std::uint32_t jobs = 1;
  std::string instance;
  std::string runtime_dir;    // absolute
  bool own_database = false;  // start the embedded one; false: a database runs already
  std::string embedded;       // the value of --embedded, absolute
};

// Lines of KEY=VALUE. Throws Error for a value with a line break.
[[nodiscard]] std::string drain_text(const Drain& drain);

// nullopt when the first of `files` is no such file. Throws Error(kExitConfig) when it cannot be
// read.
[[nodiscard]] std::optional<Drain> read_drain(Files& files);

// Changes the completed settings of the other file to those of the drain.
void narrow(Settings& settings, const Drain& drain);

}  // namespace allot::config

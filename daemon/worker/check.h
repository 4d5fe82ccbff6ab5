// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"

// What a throwaway child does before the supervisor trusts a configuration (S26). All throw Error
// with the exit code of the finding.
namespace allot::worker {

// What is good to know and stops nothing.
struct Findings {
  struct Warning {
    std::string event;  // as in the log
    std::string text;
  };
  std::vector<Warning> warnings;
  std::string server;  // "db1:3306"; empty while the database was not reached
  std::uint64_t connections_needed = 0;
  std::uint64_t connections_allowed = 0;
};

// Tries the cgroup if workers are to have theirs, describes every plugin of the folder and answers
// the supervisor on ipc::kAnswerFd if that is open.
void check_config(const config::Settings& settings, Findings& findings);

// Connects, compares the schema, tries the rights, counts connections, and makes configured queues
// that are missing. With `reclaim` also frees the leases of a former life of this instance (S11):
// only with the instance lock in hand.
void check_database(const config::Settings& settings, bool reclaim, Findings& findings);

// allot check: both, for people. Says on standard error what is wrong, and with `json` on standard
// output what it found. Returns the exit code.
int check_all(const config::LoadOptions& load, bool json);

}  // namespace allot::worker

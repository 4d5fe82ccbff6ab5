// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log_format.h"
#include "config/settings.h"

// Checks by a throwaway child before the supervisor trusts a configuration (S26), and by `allot
// check`. All throw Error with the exit code of the finding.
namespace allot::worker {

// Warnings: findings that are useful to know and do not stop the start.
struct Findings {
  struct Warning {
    std::string event;  // as in the log
    std::string text;
  };
  std::vector<Warning> warnings;
  std::string server;  // "db1:3306"; empty if the database was not reached
  std::uint64_t connections_needed = 0;
  std::uint64_t connections_allowed = 0;
};

// Tries the cgroup if workers will have their own, describes every plugin of the folder and answers
// the supervisor on ipc::kAnswerFd if it started this check.
void check_config(const config::Settings& settings, Findings& findings);

// Reports on ipc::kAnswerFd why a check refuses, for the supervisor's own line. `format`: log
// format of this check.
void answer_refusal(const std::string& message, LogFormat format);

// Connects, compares the schema, tries the rights, counts connections, and creates missing queues
// of the configuration. With `reclaim` it also frees the leases of an earlier run of this instance
// (S11), for which the caller must hold the instance lock.
void check_database(const config::Settings& settings, bool reclaim, Findings& findings);

// allot check: both checks, for people. Reports mistakes on standard error, and with `json` its
// findings on standard output. Returns the exit code.
int check_all(const config::LoadOptions& load, bool json);

}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"

// What a throwaway child does before the supervisor trusts a configuration (S26). All throw Error
// with the exit code of the finding.
namespace allot::worker {

// Describes every plugin of the folder and answers the supervisor on ipc::kAnswerFd if that is
// open.
void check_config(const config::Settings& settings);

// Connects, compares the schema and makes configured queues that are missing. With `reclaim` also
// frees the leases of a former life of this instance (S11): only with the instance lock in hand.
void check_database(const config::Settings& settings, bool reclaim);

}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
// A gateway next to the workers of a daemon, or alone with the database of a stopped daemon; and
// requests to it.
#pragma once

#include <memory>
#include <string>

#include "e2e/daemon.h"
#include "support/process.h"

namespace allot::e2e {

// Sections that make it listen at gateway_socket(); `keys`: additional lines below [gateway].
std::string gateway_section(const std::string& keys = {}, const std::string& user = "root");
std::string gateway_socket(const Daemon& daemon);

// Starts a gateway alone.
std::unique_ptr<support::Process> start_gateway(const Daemon& daemon,
                                                const support::ProcessOptions& options = {});
void wait_listening(const Daemon& daemon, const support::Process& gateway);

// Pid in the last log line with `event`; -1: none.
pid_t pid_in(const Daemon& daemon, const std::string& event);

// Requests. `fields`: additional lines of the head.
std::string get(const std::string& path);
std::string submission(const std::string& body, const std::string& fields = {},
                       const std::string& type = "application/json");

}  // namespace allot::e2e

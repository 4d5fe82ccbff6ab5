// SPDX-License-Identifier: Apache-2.0
// A gateway beside the workers of a daemon, or alone over the database of one that does not run;
// and what it is sent.
#pragma once

#include <memory>
#include <string>

#include "e2e/daemon.h"
#include "support/process.h"

namespace allot::e2e {

// The sections that make it listen at gateway_socket(); `keys`: further lines below [gateway].
std::string gateway_section(const std::string& keys = {}, const std::string& user = "root");
std::string gateway_socket(const Daemon& daemon);

// One alone.
std::unique_ptr<support::Process> start_gateway(const Daemon& daemon,
                                                const support::ProcessOptions& options = {});
void wait_listening(const Daemon& daemon, const support::Process& gateway);

// That of the line `event` that was logged last; -1: there is none.
pid_t pid_in(const Daemon& daemon, const std::string& event);

// Requests. `fields`: further lines of the head.
std::string get(const std::string& path);
std::string submission(const std::string& body, const std::string& fields = {},
                       const std::string& type = "application/json");

}  // namespace allot::e2e

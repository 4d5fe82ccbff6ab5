// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <string>

#include "job.h"
#include "job_result.h"
#include "redirect.h"
#include "sender.h"
#include "targets.h"
#include "watchdog.h"

namespace http_plugin {

// The request without its body.
[[nodiscard]] std::string job_head(const JobTarget& target, const Hop& hop,
                                   const allot::Context& ctx, std::size_t body);

// Sends the job to its URL and follows redirects. Throws Trouble.
[[nodiscard]] Answer send_job(Sender& sender, const JobTarget& target, const Job& job,
                              const allot::Context& ctx, Watch& watch);

}  // namespace http_plugin

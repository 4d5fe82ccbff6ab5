// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "job.h"
#include "targets.h"

// Requests without their body.
namespace http_plugin {

// A task. `time` is in seconds since 1970, for the signature.
[[nodiscard]] std::string request_head(const Target& target, const allot::Context& ctx,
                                       std::int64_t time);

// A Fireworq job, with a body of this size.
[[nodiscard]] std::string job_head(const JobTarget& target, const Hop& hop,
                                   const allot::Context& ctx, std::size_t body);

// HMAC-SHA256 of both parts with this secret, in hexadecimal digits. The body is not copied.
[[nodiscard]] std::string signature_of(const std::string& secret, std::string_view words,
                                       std::string_view body);

}  // namespace http_plugin

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "connector.h"
#include "tls.h"
#include "url.h"

// The section [plugins.http].
namespace http_plugin {

// Source of the verdict on a task.
enum class VerdictBy {
  kStatus,  // HTTP status of the answer
  kBody,    // {"status": "success"} in the body, with any HTTP status
};

// Target of the tasks of one type.
struct Target {
  Url url;
  VerdictBy verdict = VerdictBy::kStatus;
  Limits limits;
  // Delay between a stop and the end of the request, in which most end by themselves.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(5);
  std::chrono::milliseconds keep_alive = std::chrono::seconds(30);  // 0: one connection per request
  std::chrono::milliseconds retry_after_max = std::chrono::hours(1);
  std::string content_type = "application/json";
  std::string secret;  // empty: requests are not signed
  TlsFiles tls;
};

// Settings for Fireworq jobs, each sent to its own URL.
struct JobTarget {
  Target request;  // except its URL and total time limit
  std::string user_agent = "Fireworq/1.5.1";
  // Adds fields that Fireworq does not send.
  bool send_task = true;
  bool send_attempt = true;
  bool send_trace = true;
};

struct Targets {
  AllowList allowed;
  std::map<std::string, Target> by_type;
  std::optional<JobTarget> jobs{};  // nullopt: disabled
};

// Reads the section and the secret files. Throws std::invalid_argument that names section and key,
// and the permitted values.
Targets read_targets(const allot::Config& config);

}  // namespace http_plugin

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "allow_list.h"
#include "connector.h"
#include "tls.h"
#include "url.h"

// The section [plugins.http].
namespace http_plugin {

// What decides about a task.
enum class VerdictBy {
  kStatus,  // the status of the answer
  kBody,    // {"status": "success"} in its body, whatever its status
};

// Where the tasks of one type go.
struct Target {
  Url url;
  VerdictBy verdict = VerdictBy::kStatus;
  Limits limits;
  // Between a stop and the end of the request, so that most end by themselves.
  std::chrono::milliseconds stop_grace = std::chrono::seconds(5);
  std::chrono::milliseconds keep_alive = std::chrono::seconds(30);  // 0: a connection for each
  std::chrono::milliseconds retry_after_max = std::chrono::hours(1);
  std::string content_type = "application/json";
  std::string secret;  // empty: nothing is signed
  TlsFiles tls;
};

// How jobs of Fireworq are sent, each to the URL of its own.
struct JobTarget {
  Target request;  // but for its URL, and the time for all of it
  std::string user_agent = "Fireworq/1.5.1";
  // Fields that Fireworq does not send.
  bool send_task = true;
  bool send_attempt = true;
  bool send_trace = true;
};

struct Targets {
  AllowList allowed;
  std::map<std::string, Target> by_type;
  std::optional<JobTarget> jobs{};  // nullopt: this worker takes none
};

// Reads the section, and the files of secrets. Throws std::invalid_argument that names section and
// key, and says what is allowed.
Targets read_targets(const allot::Config& config);

}  // namespace http_plugin

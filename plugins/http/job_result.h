// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <cstdint>
#include <string>

#include "connection.h"
#include "job.h"
#include "trouble.h"

// Results of Fireworq jobs: pure functions.
namespace http_plugin {

enum class JobStatus { kSuccess, kFailure, kInternalFailure, kPermanentFailure };

// The result of a failed job as shown by Fireworq's API.
struct JobResult {
  JobStatus status = JobStatus::kInternalFailure;
  int code = 0;  // the HTTP status; 0: no answer
  std::string message{};
};

// Only the word in the body decides, not the HTTP status.
[[nodiscard]] JobResult result_of(const Answer& answer);
[[nodiscard]] JobResult result_of(const Trouble& trouble);

// "STATUS CODE: MESSAGE", 64 KiB at most: the reason of a failed attempt, which the gateway reads.
[[nodiscard]] std::string text_of(const JobResult& result);

[[nodiscard]] allot::Outcome outcome_of(const JobResult& result, const Job& job);

}  // namespace http_plugin

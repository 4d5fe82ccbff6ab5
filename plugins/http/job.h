// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "connection.h"
#include "trouble.h"
#include "url.h"
#include "verdict.h"

// Fireworq jobs, their redirects and their results: pure functions.
namespace http_plugin {

// Task type of jobs submitted by Fireworq's API.
inline constexpr const char* kJobType = "fireworq.job";

// A Fireworq job as the gateway stores it: one line of JSON, followed by the bytes to POST.
struct Job {
  std::string url{};
  std::string category{};
  std::uint32_t timeout = 0;      // seconds in total; 0: none
  std::uint32_t retry_delay = 0;  // seconds
  std::string_view body{};        // a part of the payload passed to read_job()
};

// Throws std::invalid_argument with the error.
Job read_job(std::string_view payload);

inline constexpr int kMostRedirects = 10;

struct Hop {
  Url url;
  bool posts = true;  // false: a GET without a body
};

// Parses the URL of a job or of a Location. The fragment is removed, because it is for browsers
// only. Bytes beyond ASCII, spaces and the characters "<>\^`{|} are escaped. Throws
// std::invalid_argument.
[[nodiscard]] Url parse_url_of_job(std::string_view text);

// nullopt: the answer is not a redirect. Throws Trouble for an invalid target.
[[nodiscard]] std::optional<Hop> next_hop(const Hop& from, const Answer& answer);

// The result of a failed job as shown by Fireworq's API.
struct JobResult {
  Word word = Word::kInternalFailure;
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

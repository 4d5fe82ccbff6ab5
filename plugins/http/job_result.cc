// SPDX-License-Identifier: Apache-2.0
#include "job_result.h"

#include <chrono>
#include <utility>

#include "verdict.h"

namespace http_plugin {
namespace {

constexpr std::size_t kMaxText = std::size_t{64} << 10;

const char* word_of(JobStatus status) {
  switch (status) {
    case JobStatus::kSuccess:
      return "success";
    case JobStatus::kFailure:
      return "failure";
    case JobStatus::kInternalFailure:
      return "internal-failure";
    case JobStatus::kPermanentFailure:
      return "permanent-failure";
  }
  return "failure";
}

JobStatus status_of(Word word) {
  switch (word) {
    case Word::kSuccess:
      return JobStatus::kSuccess;
    case Word::kPermanentFailure:
      return JobStatus::kPermanentFailure;
    case Word::kFailure:
      break;
  }
  return JobStatus::kFailure;
}

}  // namespace

JobResult result_of(const Answer& answer) {
  if (!answer.is_whole) {
    return {JobStatus::kFailure, answer.status, "Cannot read body: it is longer than 1 MiB"};
  }
  Verdict verdict = verdict_of_body(answer.body);
  return {status_of(verdict.word), answer.status, std::move(verdict.message)};
}

JobResult result_of(const Trouble& trouble) {
  const std::string why = trouble.what();
  if (trouble.status() != 0) {
    return {JobStatus::kFailure, trouble.status(), "Cannot read body: " + why};
  }
  const bool refused = trouble.kind() == Trouble::Kind::kRefused;
  return {refused ? JobStatus::kPermanentFailure : JobStatus::kInternalFailure, 0,
          "Request failed: " + why};
}

std::string text_of(const JobResult& result) {
  std::string text = std::string(word_of(result.status)) + " " + std::to_string(result.code) +
                     ": " + result.message;
  if (text.size() <= kMaxText) return text;
  std::size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

allot::Outcome outcome_of(const JobResult& result, const Job& job) {
  if (result.status == JobStatus::kSuccess) return allot::success();
  if (result.status == JobStatus::kPermanentFailure) return allot::fail(text_of(result));
  return allot::retry(text_of(result), std::chrono::seconds(job.retry_delay));
}

}  // namespace http_plugin

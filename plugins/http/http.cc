// SPDX-License-Identifier: Apache-2.0
//
// http: POSTs the payload of each task of a type to a configured URL. The status of the answer, or
// a word in its body, is the verdict. Only targets in [plugins.http] allow are reachable.
//
//   [plugins.http]
//   allow = ["https://example.com"]
//   [plugins.http.types."thumbs.make"]
//   url = "https://example.com/thumbs"
//
// With [plugins.http.fireworq] enabled = true it sends Fireworq jobs, each to its own URL.
#include <algorithm>
#include <allot/plugin.hpp>
#include <ctime>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/utf8.h"
#include "job.h"
#include "programs/section.h"
#include "request_head.h"
#include "sender.h"
#include "targets.h"
#include "trouble.h"
#include "verdict.h"
#include "watchdog.h"

namespace http_plugin {
namespace {

using std::chrono::milliseconds;

// For a job without a timeout: its type has a time limit.
constexpr std::chrono::seconds kNoLimit = std::chrono::hours(720);
constexpr std::size_t kMaxLogged = 4096;
constexpr std::size_t kMaxDetail = std::size_t{60} << 10;

// The start of a text, truncated between UTF-8 characters.
std::string beginning(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  return text.substr(0, allot::utf8_cut(text, most)) + " ...";
}

allot::Outcome outcome_of(const Target& target, const Answer& answer, const allot::Context& ctx) {
  const std::string status = "status " + std::to_string(answer.status);
  if (target.verdict == VerdictBy::kBody && !answer.is_whole) {
    return allot::retry(status + ": the answer is longer than 1 MiB");
  }
  const Verdict verdict = target.verdict == VerdictBy::kBody
                              ? verdict_of_body(answer.body)
                              : verdict_of_status(answer, std::time(nullptr));
  if (verdict.word == Word::kSuccess) {
    if (!verdict.message.empty()) ctx.debug(beginning(verdict.message, kMaxLogged));
    return allot::success();
  }
  const std::string said = beginning(verdict.message, kMaxDetail);
  if (verdict.word == Word::kPermanentFailure) return {ALLOT_FAIL, std::nullopt, status, said};
  if (!verdict.delay) return {ALLOT_RETRY, std::nullopt, status, said};
  constexpr int kTooManyRequests = 429;  // the target has not started the work
  return {answer.status == kTooManyRequests ? ALLOT_NOT_STARTED : ALLOT_RETRY,
          std::min(*verdict.delay, target.retry_after_max), status, said};
}

// Decides when a stop ends the request: at once if the task's time is over, otherwise after the
// grace time.
class StopGrace {
 public:
  StopGrace(const allot::Context& ctx, milliseconds grace) : ctx_(ctx), grace_(grace) {}

  bool operator()() {
    if (!ctx_.stop_requested()) return false;
    const auto now = Clock::now();
    if (!seen_) seen_ = now;
    return ctx_.time_left().count() == 0 || now - *seen_ >= grace_;
  }

 private:
  const allot::Context& ctx_;
  milliseconds grace_;
  std::optional<Clock::time_point> seen_;
};

class Http : public allot::Handler {
 public:
  static constexpr bool kConcurrent = true;

  static std::vector<std::string> types(const allot::Config& config) {
    std::vector<std::string> types;
    const Targets targets = read_targets(config);
    for (const auto& [type, target] : targets.by_type) types.push_back(type);
    if (targets.jobs) types.emplace_back(kJobType);
    return types;
  }

  explicit Http(const allot::Config& config) : targets_(read_targets(config)), sender_(targets_) {}

  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.type() == kJobType) return run_job(ctx);
    if (ctx.stop_requested()) return allot::retry("it was asked to stop", milliseconds(0));
    const Target& target = *programs::find_by_type(targets_.by_type, ctx.type());
    StopGrace stop(ctx, target.stop_grace);
    Watch watch(watchdog_, Clock::now() + target.limits.all, std::ref(stop));
    try {
      const std::string head = request_head(target, ctx, std::time(nullptr));
      return outcome_of(target, sender_.send(target, head, ctx.payload(), watch), ctx);
    } catch (const Trouble& trouble) {
      if (trouble.kind() == Trouble::Kind::kRefused) return allot::fail(trouble.what());
      return after(watch.end(), trouble, target, ctx);
    }
  }

 private:
  // A stop is not a verdict: the job is given back without being counted.
  allot::Outcome run_job(const allot::Context& ctx) {
    if (ctx.stop_requested() && ctx.time_left().count() > 0) {
      return allot::release("it was asked to stop");
    }
    Job job;
    try {
      job = read_job(ctx.payload());
    } catch (const std::invalid_argument& error) {
      return allot::fail(text_of(
          {Word::kInternalFailure, 0,
           "Cannot create http request: the job is damaged: " + std::string(error.what())}));
    }
    const JobTarget& target = *targets_.jobs;
    const auto limit =
        job.timeout > 0 ? std::chrono::seconds(job.timeout) : std::chrono::seconds(kNoLimit);
    StopGrace stop(ctx, target.request.stop_grace);
    Watch watch(watchdog_, Clock::now() + std::min(limit, kNoLimit), std::ref(stop));
    try {
      const JobResult result = result_of(send_job(job, ctx, watch));
      if (result.word == Word::kSuccess && !result.message.empty()) {
        ctx.debug(beginning(result.message, kMaxLogged));
      }
      return outcome_of(result, job);
    } catch (const std::invalid_argument& error) {
      return outcome_of(
          {Word::kInternalFailure, 0, "Cannot create http request: " + std::string(error.what())},
          job);
    } catch (const Trouble& trouble) {
      const Watchdog::End end = watch.end();
      if (end == Watchdog::End::kNone) return outcome_of(result_of(trouble), job);
      if (end == Watchdog::End::kStop && ctx.time_left().count() > 0) {
        return allot::release("it was asked to stop");
      }
      return outcome_of(
          result_of(Trouble("its time limit was over: " + std::string(trouble.what()))), job);
    }
  }

  // Sends the job to its URL and follows redirects.
  Answer send_job(const Job& job, const allot::Context& ctx, Watch& watch) {
    Hop hop{parse_url_of_job(job.url), true};
    for (int redirects = 0;; ++redirects) {
      Target to = targets_.jobs->request;
      to.url = hop.url;
      const std::string_view body = hop.posts ? job.body : std::string_view();
      Answer answer =
          sender_.send(to, job_head(*targets_.jobs, hop, ctx, body.size()), body, watch);
      auto next = next_hop(hop, answer);
      if (!next) return answer;
      if (redirects == kMostRedirects) {
        throw Trouble("stopped after " + std::to_string(kMostRedirects) + " redirects");
      }
      hop = *std::move(next);
    }
  }

  static allot::Outcome after(Watchdog::End end, const Trouble& trouble, const Target& target,
                              const allot::Context& ctx) {
    const std::string what = trouble.what();
    if (end == Watchdog::End::kTimeout) {
      const auto limit = std::to_string(target.limits.all.count());
      return allot::retry("its timeout of " + limit + " ms was over: " + what);
    }
    if (end == Watchdog::End::kNone) return allot::retry(what);
    const std::string reason = "it was asked to stop: " + what;
    // A task that needs more than its time limit is retried with growing delays.
    if (ctx.time_left().count() == 0) return allot::retry(reason);
    return allot::retry(reason, milliseconds(0));
  }

  Targets targets_;
  Watchdog watchdog_;
  Sender sender_;
};

ALLOT_CONFIGURED_HANDLER(Http)
ALLOT_PLUGIN("http", "0.1.0")

}  // namespace
}  // namespace http_plugin

// SPDX-License-Identifier: Apache-2.0
#include "job_sender.h"

#include <string_view>
#include <utility>

#include "trouble.h"

namespace http_plugin {
namespace {

void put(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string job_head(const JobTarget& target, const Hop& hop, const allot::Context& ctx,
                     std::size_t body) {
  std::string head = (hop.posts ? "POST " : "GET ") + hop.url.path + " HTTP/1.1\r\n";
  put(head, "Host", host_field(hop.url.origin));
  put(head, "User-Agent", target.user_agent);
  put(head, "Connection", target.request.keep_alive.count() > 0 ? "keep-alive" : "close");
  if (hop.posts) {
    put(head, "Content-Type", "application/json");
    put(head, "Content-Length", std::to_string(body));
  }
  if (target.send_task) put(head, "X-Allot-Task", ctx.id());
  if (target.send_attempt) put(head, "X-Allot-Attempt", std::to_string(ctx.attempt()));
  if (target.send_trace && !ctx.traceparent().empty()) {
    put(head, "traceparent", ctx.traceparent());
    if (!ctx.tracestate().empty()) put(head, "tracestate", ctx.tracestate());
  }
  return head + "\r\n";
}

Answer send_job(Sender& sender, const JobTarget& target, const Job& job, const allot::Context& ctx,
                Watch& watch) {
  Hop hop{parse_url_of_job(job.url), true};
  for (int redirects = 0;; ++redirects) {
    Target to = target.request;
    to.url = hop.url;
    const std::string_view body = hop.posts ? job.body : std::string_view();
    Answer answer = sender.send(to, job_head(target, hop, ctx, body.size()), body, watch);
    auto next = next_hop(hop, answer);
    if (!next) return answer;
    if (redirects == kMostRedirects) {
      throw Trouble("stopped after " + std::to_string(kMostRedirects) + " redirects");
    }
    hop = *std::move(next);
  }
}

}  // namespace http_plugin

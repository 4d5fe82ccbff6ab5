// SPDX-License-Identifier: Apache-2.0
#include "request_head.h"

#include <Poco/HMACEngine.h>
#include <Poco/SHA2Engine.h>

namespace http_plugin {
namespace {

// With the sizes that the library's HMAC asks for.
struct Sha256 : Poco::SHA2Engine {
  enum { BLOCK_SIZE = 64, DIGEST_SIZE = 32 };
};

void add(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

void begin(std::string& head, bool posts, const Url& url, std::string_view user_agent,
           std::chrono::milliseconds keep_alive) {
  head.append(posts ? "POST " : "GET ").append(url.path).append(" HTTP/1.1\r\n");
  add(head, "Host", host_field(url.origin));
  add(head, "User-Agent", user_agent);
  add(head, "Connection", keep_alive.count() > 0 ? "keep-alive" : "close");
}

void add_body(std::string& head, std::string_view type, std::size_t size) {
  add(head, "Content-Type", type);
  add(head, "Content-Length", std::to_string(size));
}

void add_trace(std::string& head, const allot::Context& ctx) {
  if (!ctx.traceparent().empty()) add(head, "traceparent", ctx.traceparent());
  if (!ctx.tracestate().empty()) add(head, "tracestate", ctx.tracestate());
}

// One line per request property, so that a signature is valid only for this request of this
// attempt. None of the values can contain a line break.
std::string signed_words(const Target& target, const allot::Context& ctx,
                         const std::string& seconds) {
  std::string words = seconds + "\nPOST\n" + target.url.path + "\n";
  words.append(ctx.id()).append("\n").append(ctx.type()).append("\n");
  return words + std::to_string(ctx.attempt()) + "\n";
}

}  // namespace

std::string signature_of(const std::string& secret, std::string_view words, std::string_view body) {
  Poco::HMACEngine<Sha256> engine(secret);
  engine.update(words.data(), words.size());
  engine.update(body.data(), body.size());
  return Poco::DigestEngine::digestToHex(engine.digest());
}

std::string request_head(const Target& target, const allot::Context& ctx, std::int64_t time) {
  std::string head;
  head.reserve(target.url.path.size() + ctx.tracestate().size() + 640);
  begin(head, true, target.url, "Allot", target.keep_alive);
  add_body(head, target.content_type, ctx.payload().size());
  add(head, "X-Allot-Task", ctx.id());
  add(head, "X-Allot-Type", ctx.type());
  add(head, "X-Allot-Queue", ctx.queue());
  add(head, "X-Allot-Attempt", std::to_string(ctx.attempt()));
  add(head, "X-Allot-Max-Attempts", std::to_string(ctx.max_attempts()));
  add_trace(head, ctx);
  if (!target.secret.empty()) {
    const std::string seconds = std::to_string(time);
    add(head, "X-Allot-Time", seconds);
    add(head, "X-Allot-Signature",
        "sha256=" + signature_of(target.secret, signed_words(target, ctx, seconds), ctx.payload()));
  }
  return head.append("\r\n");
}

std::string job_head(const JobTarget& target, const Hop& hop, const allot::Context& ctx,
                     std::size_t body) {
  std::string head;
  begin(head, hop.posts, hop.url, target.user_agent, target.request.keep_alive);
  if (hop.posts) add_body(head, "application/json", body);
  if (target.send_task) add(head, "X-Allot-Task", ctx.id());
  if (target.send_attempt) add(head, "X-Allot-Attempt", std::to_string(ctx.attempt()));
  if (target.send_trace && !ctx.traceparent().empty()) add_trace(head, ctx);
  return head.append("\r\n");
}

}  // namespace http_plugin

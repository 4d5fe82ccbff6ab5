// SPDX-License-Identifier: Apache-2.0
#include "request_head.h"

#include "signature.h"

namespace http_plugin {
namespace {

void add(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

// One line per request property, so that a signature is valid only for this request of this
// attempt. None of the values can contain a line break.
std::string signed_words(const Target& target, const TaskWords& task, const std::string& seconds) {
  const std::string attempt = std::to_string(task.attempt);
  std::string words = seconds + "\nPOST\n";
  for (const std::string_view line :
       {std::string_view(target.url.path), task.id, task.type, std::string_view(attempt)}) {
    words.append(line).append("\n");
  }
  return words;
}

}  // namespace

std::string request_head(const Target& target, const TaskWords& task, std::int64_t time) {
  std::string head;
  head.reserve(target.url.path.size() + task.tracestate.size() + 640);
  head.append("POST ").append(target.url.path).append(" HTTP/1.1\r\n");
  add(head, "Host", host_field(target.url.origin));
  add(head, "User-Agent", "Allot");
  add(head, "Connection", target.keep_alive.count() > 0 ? "keep-alive" : "close");
  add(head, "Content-Type", target.content_type);
  add(head, "Content-Length", std::to_string(task.payload.size()));
  add(head, "X-Allot-Task", task.id);
  add(head, "X-Allot-Type", task.type);
  add(head, "X-Allot-Queue", task.queue);
  add(head, "X-Allot-Attempt", std::to_string(task.attempt));
  add(head, "X-Allot-Max-Attempts", std::to_string(task.max_attempts));
  if (!task.traceparent.empty()) add(head, "traceparent", task.traceparent);
  if (!task.tracestate.empty()) add(head, "tracestate", task.tracestate);
  if (!target.secret.empty()) {
    const std::string seconds = std::to_string(time);
    add(head, "X-Allot-Time", seconds);
    add(head, "X-Allot-Signature",
        "sha256=" + signature_of(target.secret, signed_words(target, task, seconds), task.payload));
  }
  head += "\r\n";
  return head;
}

}  // namespace http_plugin

// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/answer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gateway/http/response_text.h"

namespace allot::gateway::fireworq {
namespace {

// The reason phrase of Go's HTTP library.
std::string_view reason_of(unsigned status) {
  if (status == 413) return "Request Entity Too Large";
  if (status == 414) return "Request URI Too Long";
  return http::reason_of(status);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

http::Response json_answer(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

http::Response text_answer(std::string body, unsigned status) {
  return {status, "text/plain; charset=utf-8", std::move(body)};
}

http::Response error_answer(unsigned status, const std::string& detail) {
  std::string body = std::to_string(status).append(" ").append(reason_of(status)).append("\n");
  if (!detail.empty()) body += "\n" + one_line(detail) + "\n";
  http::Response response = text_answer(std::move(body), status);
  if (status == 401) {
    response.fields.push_back({"WWW-Authenticate", "Basic realm=\"fireworq\""});
  }
  return response;
}

}  // namespace allot::gateway::fireworq

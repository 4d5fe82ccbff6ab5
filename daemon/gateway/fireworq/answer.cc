// SPDX-License-Identifier: Apache-2.0
#include "gateway/fireworq/answer.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace allot::gateway::fireworq {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";

struct Text {
  unsigned status;
  std::string_view text;
};
// Reason phrases of Go's HTTP library.
constexpr std::array kTexts = {Text{400, "Bad Request"},
                               Text{401, "Unauthorized"},
                               Text{403, "Forbidden"},
                               Text{404, "Not Found"},
                               Text{405, "Method Not Allowed"},
                               Text{408, "Request Timeout"},
                               Text{413, "Request Entity Too Large"},
                               Text{414, "Request URI Too Long"},
                               Text{417, "Expectation Failed"},
                               Text{431, "Request Header Fields Too Large"},
                               Text{500, "Internal Server Error"},
                               Text{501, "Not Implemented"},
                               Text{503, "Service Unavailable"},
                               Text{504, "Gateway Timeout"},
                               Text{505, "HTTP Version Not Supported"}};

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

http::Response text_answer(std::string body) {
  http::Response response;
  response.type = kText;
  response.body = std::move(body);
  return response;
}

http::Response error_answer(unsigned status, const std::string& detail) {
  std::string body = std::to_string(status);
  for (const Text& each : kTexts) {
    if (each.status == status) body.append(" ").append(each.text);
  }
  body += "\n";
  if (!detail.empty()) body += "\n" + one_line(detail) + "\n";
  http::Response response = text_answer(std::move(body));
  response.status = status;
  if (status == 401) {
    response.fields.push_back({"WWW-Authenticate", "Basic realm=\"fireworq\""});
  }
  return response;
}

http::Response no_page() {
  http::Response response = text_answer("404 page not found\n");
  response.status = 404;
  return response;
}

http::Response moved_to(const std::string& path, const std::string& query) {
  http::Response response = text_answer({});
  response.status = 301;
  response.fields.push_back({"Location", query.empty() ? path : path + "?" + query});
  return response;
}

}  // namespace allot::gateway::fireworq

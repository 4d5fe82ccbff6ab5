// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/response_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace allot::gateway::http {
namespace {

Response response_of(unsigned status, std::string body) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

// Without the date.
std::string text_of(const Response& response, const Framing& framing = {}) {
  std::string head = response_head(response, framing);
  const auto date = head.find("Date: ");
  EXPECT_NE(date, std::string::npos);
  EXPECT_EQ(head.substr(date).find(" GMT\r\n"), 31U);
  return head.erase(date, head.find("\r\n", date) + 2 - date);
}

TEST(ResponseText, HasItsLengthAndNoSurprises) {
  EXPECT_EQ(text_of(response_of(201, "{}")),
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n");
}

TEST(ResponseText, IsNotStoredUnlessItSaysOtherwise) {
  Response response = response_of(200, "x");
  response.fields = {{"cache-control", "max-age=60"}};
  const std::string text = text_of(response);
  EXPECT_NE(text.find("cache-control: max-age=60\r\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("no-store"), std::string::npos) << text;
}

TEST(ResponseText, SaysWhatBecomesOfTheConnection) {
  const Response response = response_of(200, "");
  EXPECT_NE(text_of(response, {BodyForm::kCounted, true}).find("Connection: close\r\n"),
            std::string::npos);
  EXPECT_NE(text_of(response, {BodyForm::kCounted, false, true}).find("Connection: keep-alive\r\n"),
            std::string::npos);
  EXPECT_EQ(text_of(response).find("Connection:"), std::string::npos);
}

TEST(ResponseText, AnAnswerWithoutABodyHasNoLength) {
  EXPECT_EQ(text_of(response_of(204, "")),
            "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\n"
            "Cache-Control: no-store\r\n\r\n");
}

TEST(ResponseText, AStreamHasChunks) {
  const std::string text = text_of(response_of(200, ""), {BodyForm::kChunked});
  EXPECT_NE(text.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(text.find("Content-Length"), std::string::npos);
  EXPECT_EQ(chunk_of(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
}

TEST(ResponseText, AFieldThatWouldEndItselfIsADefect) {
  for (const Field& bad : {Field{"Location", "/a\r\nX: b"}, Field{"Location", "/a\nb"},
                           Field{"Location", std::string("/a\0b", 4)}, Field{"Loca tion", "/a"},
                           Field{"", "/a"}, Field{"A\r\nB", "/a"}}) {
    Response response = response_of(200, "");
    response.fields.push_back(bad);
    EXPECT_THROW(static_cast<void>(response_head(response, {})), Error) << bad.name;
  }
}

}  // namespace
}  // namespace allot::gateway::http

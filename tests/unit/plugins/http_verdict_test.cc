// SPDX-License-Identifier: Apache-2.0
// Verdict of an answer about a task.
#include <gtest/gtest.h>

#include "body_reader.h"
#include "request_head.h"
#include "trouble.h"
#include "verdict.h"

namespace http_plugin {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string body_says(const std::string& body) {
  const Verdict verdict = verdict_of_body(body);
  const char* const words[] = {"success", "failure", "permanent-failure"};
  return std::string(words[static_cast<int>(verdict.word)]) + " " + verdict.message;
}

TEST(HttpVerdict, ABodyNamesOneOfThreeWords) {
  EXPECT_EQ(body_says(R"({"status":"success"})"), "success ");
  EXPECT_EQ(body_says(R"({"status":"success","message":"done"})"), "success done");
  EXPECT_EQ(body_says(R"({"message":"m","status":"failure","x":{"status":"success"}})"),
            "failure m");
  EXPECT_EQ(body_says(R"( {"status" : "permanent-failure"} )"), "permanent-failure ");
  EXPECT_EQ(body_says(R"({"Status":"success","code":17,"list":[[{"message":"no"}]]})"), "success ");
  EXPECT_EQ(body_says(R"({"status":"success","message":null})"), "success ");
}

TEST(HttpVerdict, EveryOtherBodyIsAFailureThatQuotesIt) {
  for (const char* body :
       {R"({"status":"ok"})", R"({"status":"SUCCESS"})", R"({"status":"internal-failure"})",
        R"({"status":""})", R"({"status":null})", "{}", "null", R"({"state":"success"})",
        R"({"x":[{"status":"success"}]})"}) {
    const std::string said = body_says(body);
    EXPECT_EQ(said.rfind("failure ", 0), 0U) << body;
    EXPECT_NE(said.find(std::string("\nOriginal response body:\n") + body), std::string::npos)
        << said;
  }
  EXPECT_EQ(body_says(R"({"status":"ok"})"),
            "failure Invalid result status: ok\nOriginal response body:\n{\"status\":\"ok\"}");
  EXPECT_EQ(body_says(R"("foo bar")"),
            "failure Cannot parse body as JSON: it is a text\nOriginal response "
            "body:\n\"foo bar\"");
}

// With a duplicate key the meaning is ambiguous.
TEST(HttpVerdict, AKeyThatIsThereTwiceIsAFailure) {
  for (const std::string twice : {R"({"status":"failure","status":"success"})",
                                  R"({"status":"success","message":"a","status":"success"})",
                                  R"({"Status":"failure","status":"success"})"}) {
    const std::string said = body_says(twice);
    EXPECT_EQ(said.rfind("failure Cannot parse body as JSON: status occurs twice", 0), 0U) << said;
  }
  EXPECT_EQ(body_says(R"({"x":{"a":1,"a":2},"status":"success"})")
                .rfind("failure Cannot parse body as JSON: a occurs twice", 0),
            0U);
  EXPECT_EQ(body_says(R"({"x":{"a":1,"A":{"a":3}},"a":[{"x":1},{"x":2}],"status":"success"})"),
            "success ");
}

// A target that reported success is not called again because of a bad message.
TEST(HttpVerdict, InvalidUtf8IsReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  const auto message = [](const std::string& text) {
    return body_says(R"({"status":"success","message":")" + text + "\"}");
  };
  EXPECT_EQ(message("a\xFF"
                    "b"),
            "success a" + mark + "b");
  EXPECT_EQ(message("\xE3\x81\xFF\xC3"), "success " + mark + mark + mark + mark);
  EXPECT_EQ(message("\xED\xA0\x80"), "success " + mark + mark + mark) << "a surrogate";
  EXPECT_EQ(message("\xF4\x90\x80\x80\xFF"), "success " + mark + mark + mark + mark + mark);
  EXPECT_EQ(message("\xC3\xBC\xE3\x81\x82\xF0\x9F\x98\x80\xFF"),
            "success \xC3\xBC\xE3\x81\x82\xF0\x9F\x98\x80" + mark);
  EXPECT_EQ(message(R"(\ud800)"), "success " + mark);
  EXPECT_EQ(message(R"(\ud800\u0041\udc00\ud83d\ude00)"),
            "success " + mark + "A" + mark + "\xF0\x9F\x98\x80");
  EXPECT_EQ(message(R"(\\ud800\ud800\n)"), "success \\ud800" + mark + "\n");
  EXPECT_EQ(message(R"(\ud80)").rfind("failure Cannot parse body as JSON: ", 0), 0U);
  EXPECT_EQ(message(R"(\x)").rfind("failure Cannot parse body as JSON: ", 0), 0U);
}

TEST(HttpVerdict, InvalidJsonIsAFailure) {
  for (const std::string body :
       {"", "success", R"({"status":)", R"({"status":"success")", R"({"status":"success"} x)",
        R"({"status":"success"}{})", R"({"status":1})", R"({"status":["success"]})",
        R"({"status":{"a":"success"}})", R"({"status":true})",
        R"({"status":"success","message":1})", "17", "true", "\xff",
        "\xEF\xBB\xBF{\"status\":\"success\"}"}) {
    const std::string said = body_says(body);
    EXPECT_EQ(said.rfind("failure Cannot parse body as JSON: ", 0), 0U) << body << ": " << said;
  }
  EXPECT_EQ(body_says(std::string("{\"status\":\"success\"}\0{}", 23)).rfind("failure Cannot", 0),
            0U);
  // However deep: no tree is built from it.
  const std::string deep(400'000, '[');
  EXPECT_EQ(body_says(R"({"x":)" + deep).rfind("failure Cannot parse", 0), 0U);
  EXPECT_EQ(
      body_says(R"({"x":)" + deep + std::string(deep.size(), ']') + R"(,"status":"success"})"),
      "success ");
}

std::string status_says(int status, const std::string& retry_after = {},
                        const std::string& date = {}) {
  constexpr std::int64_t kNow = 784'111'777;  // Sun, 06 Nov 1994 08:49:37 GMT
  const Verdict verdict =
      verdict_of_status({.status = status, .retry_after = retry_after, .date = date}, kNow);
  const char* const words[] = {"success", "failure", "permanent-failure"};
  return words[static_cast<int>(verdict.word)] +
         (verdict.delay ? " after " + std::to_string(verdict.delay->count()) : "");
}

TEST(HttpVerdict, AStatusDecides) {
  for (const int status : {200, 201, 202, 204, 206, 299}) EXPECT_EQ(status_says(status), "success");
  for (const int status : {300, 301, 302, 304, 307, 308, 408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(status_says(status), "failure") << status;
  }
  for (const int status : {400, 401, 403, 404, 409, 410, 413, 422, 451, 499}) {
    EXPECT_EQ(status_says(status), "permanent-failure") << status;
  }
}

TEST(HttpVerdict, RetryAfterIsSecondsOrAMoment) {
  EXPECT_EQ(status_says(503, "120"), "failure after 120000");
  EXPECT_EQ(status_says(429, "0"), "failure after 0");
  EXPECT_EQ(status_says(503, "99999999999999999999"), "failure after 1000000000000");
  EXPECT_EQ(status_says(503, "Sun, 06 Nov 1994 08:50:37 GMT"), "failure after 60000");
  EXPECT_EQ(status_says(503, "Sun, 06 Nov 1994 08:49:00 GMT"), "failure after 0");
  EXPECT_EQ(status_says(503, "Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:50:00 GMT"),
            "failure after 37000")
      << "by the target's own clock";
  EXPECT_EQ(status_says(503, "soon"), "failure");
  EXPECT_EQ(status_says(503, "-1"), "failure");
  EXPECT_EQ(status_says(500, "120"), "failure") << "only 429 and 503 say when";
  EXPECT_EQ(status_says(200, "120"), "success");
}

// As printed by `openssl dgst -sha256 -hmac SECRET`.
TEST(HttpSignature, EqualsTheExampleOfThePage) {
  EXPECT_EQ(signature_of("it is a secret of the test",
                         "1732456789\nPOST\n/make?size=200\n0840dqg2v5n80r00\nthumbs.make\n1\n",
                         R"({"photo":"a.jpg"})"),
            "e5b7af4051ab5c275be08e158a2a1c06e649855c31c8f002f9ecd2648d0950fb");
}

// Returns a text in pieces of `piece` bytes.
BodyReader::Read pieces(const std::string& text, std::size_t piece) {
  return [text, piece, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t got = text.copy(to, std::min(size, piece), at);
    at += got;
    return got;
  };
}

// Result of reading the chunks: "." at the end if the body is complete.
std::string chunks(const std::string& text, std::size_t most = 100) {
  const auto read = [&](std::size_t piece) -> std::string {
    std::string body;
    try {
      const bool whole = BodyReader(pieces(text, piece), most, body).chunks();
      return body + (whole ? "." : "...");
    } catch (const Trouble& trouble) {
      return trouble.what();
    }
  };
  EXPECT_EQ(read(1), read(1000)) << text;
  return read(3);
}

TEST(HttpBody, ChunksAreReadStrictly) {
  EXPECT_EQ(chunks("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "abcde.");
  EXPECT_EQ(chunks("3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"), "abc.");
  EXPECT_EQ(chunks("A\r\n0123456789\r\n0\r\n\r\n", 10), "0123456789.");
  EXPECT_EQ(chunks("A\r\n0123456789\r\n0\r\n\r\n", 9), "012345678...");
  for (const char* cut : {"", "3", "3\r\n", "3\r\nab", "3\r\nabc", "3\r\nabc\r\n", "3\r\nabc\r\n0",
                          "3\r\nabc\r\n0\r\n", "3\r\nabc\r\n0\r\nX: y\r\n"}) {
    EXPECT_EQ(chunks(cut), "the answer broke off") << cut;
  }
  for (const char* wrong : {"\r\n", "x\r\n", "-1\r\n", "0x3\r\nabc\r\n", "1111111111111111\r\n"}) {
    EXPECT_EQ(chunks(wrong), "the answer has no chunk size where one is required") << wrong;
  }
  EXPECT_EQ(chunks("3\r\nabcd\r\n0\r\n\r\n"), "the answer has a chunk whose size is wrong");
  EXPECT_EQ(chunks(std::string(5000, '1')), "the answer has a line that is too long");
}

TEST(HttpBody, ALengthIsExact) {
  std::string body;
  EXPECT_TRUE(BodyReader(pieces("abcdef", 4), 6, body).exactly(6));
  EXPECT_EQ(body, "abcdef");
  body.clear();
  EXPECT_FALSE(BodyReader(pieces("abcdef", 4), 5, body).exactly(6));
  EXPECT_EQ(body, "abcde");
  body.clear();
  EXPECT_THROW(BodyReader(pieces("abcdef", 4), 100, body).exactly(7), Trouble);
  body.clear();
  EXPECT_TRUE(BodyReader(pieces("abcdef", 4), 6, body).to_the_end());
  body.clear();
  EXPECT_FALSE(BodyReader(pieces("abcdefg", 4), 6, body).to_the_end());
}

}  // namespace
}  // namespace http_plugin

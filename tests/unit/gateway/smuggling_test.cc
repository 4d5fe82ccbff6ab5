// SPDX-License-Identifier: Apache-2.0
// Requests that two parsers may interpret differently: exactly one answer, a refusal, and the end.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "support/http_client.h"
#include "unit/gateway/tiny_application.h"

namespace allot::test {
namespace {

struct SmugglingCase {
  std::string name;
  std::string bytes;  // a second request follows
  int status = 400;
};
std::ostream& operator<<(std::ostream& out, const SmugglingCase& each) {
  return out << each.name;
}

const std::string kHead = "POST /echo HTTP/1.1\r\nHost: test\r\n";
const std::string kChunked = kHead + "Transfer-Encoding: chunked\r\n\r\n";

class Smuggling : public testing::TestWithParam<SmugglingCase> {};

TEST_P(Smuggling, EndsWithARefusal) {
  TinyApplication application;
  RunningServer server(application);
  auto client = HttpClient::to_port(server.port());
  client.send(GetParam().bytes + get("/hello"));
  client.shut_sending();
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, GetParam().status) << answer->body;
  EXPECT_EQ(client.rest(), "") << "the smuggled request was answered, too";
  EXPECT_EQ(application.answered(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Requests, Smuggling,
    testing::Values(
        SmugglingCase{"length_and_coding",
                      kHead + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"coding_and_length",
                      kHead + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"two_lengths", kHead + "Content-Length: 0\r\nContent-Length: 44\r\n\r\n"},
        SmugglingCase{"two_equal_lengths",
                      kHead + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"},
        SmugglingCase{"length_list", kHead + "Content-Length: 0, 0\r\n\r\n"},
        SmugglingCase{"length_sign", kHead + "Content-Length: +0\r\n\r\n"},
        SmugglingCase{"coding_hidden", kHead + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"coding_vertical_tab", kHead + "Transfer-Encoding: \x0b"
                                                     "chunked\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"coding_other", kHead + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
        SmugglingCase{"coding_list",
                      kHead + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501},
        SmugglingCase{
            "coding_old",
            "POST /echo HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"folded", kHead + "X: a\r\n Content-Length: 4\r\n\r\n"},
        SmugglingCase{"bare_lf", kHead + "X: a\nContent-Length: 44\r\n\r\n"},
        SmugglingCase{"lf_only", "POST /echo HTTP/1.1\nHost: test\n\n"},
        SmugglingCase{"bare_cr", kHead + "X: a\rContent-Length: 44\r\n\r\n"},
        SmugglingCase{"two_hosts", "GET /hello HTTP/1.1\r\nHost: test\r\nHost: other\r\n\r\n"},
        SmugglingCase{"no_host", "GET /hello HTTP/1.1\r\n\r\n"},
        SmugglingCase{"absolute", "GET http://other/hello HTTP/1.1\r\nHost: test\r\n\r\n"},
        SmugglingCase{"empty_line_first", "\r\nGET /hello HTTP/1.1\r\nHost: test\r\n\r\n"},
        SmugglingCase{"chunk_negative", kChunked + "-1\r\n\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_prefixed", kChunked + "0x1\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_sign", kChunked + "+1\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_space_first", kChunked + " 1\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_empty", kChunked + "\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_overflow", kChunked + "10000000000000001\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_too_large", kChunked + "ffffffff\r\na\r\n0\r\n\r\n", 413},
        SmugglingCase{"chunk_largest", kChunked + "ffffffffffffffff\r\na\r\n0\r\n\r\n", 413},
        SmugglingCase{"chunk_lf", kChunked + "1\na\n0\n\n"},
        SmugglingCase{"chunk_longer_than_said", kChunked + "1\r\nabc\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_extension_long",
                      kChunked + "1;" + std::string(200, 'x') + "\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_extension_endless", kChunked + "1;" + std::string(10'000, 'x')},
        SmugglingCase{"chunk_extension_last_long",
                      kChunked + "0;" + std::string(200, 'x') + "\r\n\r\n"},
        SmugglingCase{"chunk_extension_lf", kChunked + "1;a\nb\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"chunk_extension_quoted_lines", kChunked + "1;a=\"\r\n\"\r\na\r\n0\r\n\r\n"},
        SmugglingCase{"trailer_endless",
                      kChunked + "0\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n"},
        SmugglingCase{"trailer_length", kChunked + "0\r\nContent-Length: 5\r\n\r\n"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace allot::test

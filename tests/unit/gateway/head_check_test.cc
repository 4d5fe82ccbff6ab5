// SPDX-License-Identifier: Apache-2.0
#include "gateway/http/head_check.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace allot::gateway::http {
namespace {

const std::string kGet = "GET / HTTP/1.1\r\n";
const std::string kPost = "POST /api/v1/tasks HTTP/1.1\r\nHost: a\r\n";

struct HeadCase {
  std::string name;
  std::string head;
  unsigned status = 0;  // 0: valid
  std::string says{};   // a part of the title
};
std::ostream& operator<<(std::ostream& out, const HeadCase& each) {
  return out << each.name;
}

std::string fields_of(int count) {
  std::string text;
  for (int at = 0; at < count; ++at) text += "X-" + std::to_string(at) + ": 1\r\n";
  return text;
}

std::vector<HeadCase> good_heads() {
  return {
      {"plain", kGet + "Host: a\r\n\r\n"},
      {"host_with_port", kGet + "Host: [::1]:8080\r\n\r\n"},
      {"http_1_0_with_host", "GET / HTTP/1.0\r\nHost: a\r\n\r\n"},
      {"empty_value", kGet + "Host: a\r\nX:\r\n\r\n"},
      {"tab_around_value", kGet + "Host:\ta \r\n\r\n"},
      {"bytes_above_127", kGet + "Host: a\r\nX-User: J\xc3\xbcrgen\r\n\r\n"},
      {"query_and_escapes", "GET /a%2Fb?c=%20&d=[1] HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"chunked", kPost + "Transfer-Encoding: Chunked\r\n\r\n"},
      {"length", kPost + "Content-Length: 0\r\n\r\n"},
      {"repeated_list", kGet + "Host: a\r\nAccept: a\r\nAccept: b\r\n\r\n"},
      {"hundred_fields", kGet + "Host: a\r\n" + fields_of(99) + "\r\n"},
      {"expect", kPost + "Content-Length: 1\r\nExpect: 100-Continue\r\n\r\n"},
  };
}

std::vector<HeadCase> bad_hosts() {
  return {
      {"no_host", kGet + "\r\n", 400, "Host"},
      {"no_host_1_0", "GET / HTTP/1.0\r\n\r\n", 400, "Host"},
      {"two_hosts", kGet + "Host: a\r\nhost: a\r\n\r\n", 400, "once"},
      {"empty_host", kGet + "Host:\r\n\r\n", 400, "Host"},
      {"host_list", kGet + "Host: a, b\r\n\r\n", 400, "Host"},
      {"host_with_path", kGet + "Host: a/b\r\n\r\n", 400, "Host"},
      {"host_with_user", kGet + "Host: a@b\r\n\r\n", 400, "Host"},
  };
}

std::vector<HeadCase> bad_lines() {
  return {
      {"obs_fold_space", kGet + "Host: a\r\nX: b\r\n c\r\n\r\n", 400, "obs-fold"},
      {"obs_fold_tab", kGet + "Host: a\r\nX: b\r\n\tc\r\n\r\n", 400, "obs-fold"},
      {"obs_fold_first", kGet + " Host: a\r\n\r\n", 400, "obs-fold"},
      {"bare_lf", "GET / HTTP/1.1\nHost: a\n\n", 400, "CR LF"},
      {"bare_lf_in_field", kGet + "Host: a\r\nX: b\nY: c\r\n\r\n", 400, "CR LF"},
      {"bare_lf_at_end", kGet + "Host: a\r\n\n", 400, "CR LF"},
      {"bare_cr", kGet + "Host: a\rb\r\n\r\n", 400, "CR LF"},
      {"two_cr", kGet + "Host: a\r\r\n\r\n", 400, "CR LF"},
      {"empty_line_first", "\r\n", 400, "empty line"},
      {"lf_first", "\n", 400, "CR LF"},
  };
}

std::vector<HeadCase> bad_fields() {
  return {
      {"space_before_colon", kGet + "Host : a\r\n\r\n", 400, "name"},
      {"tab_before_colon", kPost + "Content-Length\t: 1\r\n\r\n", 400, "name"},
      {"no_name", kGet + "Host: a\r\n: b\r\n\r\n", 400, "name"},
      {"no_colon", kGet + "Host: a\r\nX\r\n\r\n", 400, "':'"},
      {"quoted_name", kGet + "Host: a\r\n\"X\": b\r\n\r\n", 400, "name"},
      {"name_above_127", kGet + "Host: a\r\nX\xff: b\r\n\r\n", 400, "name"},
      {"nul_in_value", kGet + "Host: a\r\nX: " + std::string("b\0c", 3) + "\r\n\r\n", 400,
       "control"},
      {"escape_in_value", kGet + "Host: a\r\nX: \x1b[1m\r\n\r\n", 400, "control"},
      {"delete_in_value", kGet + "Host: a\r\nX: \x7f\r\n\r\n", 400, "control"},
      {"vertical_tab_before_coding",
       kPost + "Transfer-Encoding: \x0b"
               "chunked\r\n\r\n",
       400, "control"},
  };
}

std::vector<HeadCase> bad_bodies() {
  return {
      {"two_lengths", kPost + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400, "once"},
      {"length_list", kPost + "Content-Length: 1, 1\r\n\r\n", 400, "one number"},
      {"length_sign", kPost + "Content-Length: +1\r\n\r\n", 400, "one number"},
      {"length_negative", kPost + "Content-Length: -1\r\n\r\n", 400, "one number"},
      {"length_hex", kPost + "Content-Length: 0x1\r\n\r\n", 400, "one number"},
      {"length_space", kPost + "Content-Length: 1 1\r\n\r\n", 400, "one number"},
      {"length_empty", kPost + "Content-Length:\r\n\r\n", 400, "one number"},
      {"length_overflow", kPost + "Content-Length: 18446744073709551616\r\n\r\n", 400,
       "one number"},
      {"length_and_coding", kPost + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
       "contradict"},
      {"coding_and_length", kPost + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400,
       "contradict"},
      {"coding_list", kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "chunked"},
      {"coding_twice_in_one", kPost + "Transfer-Encoding: chunked, chunked\r\n\r\n", 501,
       "chunked"},
      {"coding_twice", kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       400, "once"},
      {"coding_identity", kPost + "Transfer-Encoding: identity\r\n\r\n", 501, "chunked"},
      {"coding_quoted", kPost + "Transfer-Encoding: \"chunked\"\r\n\r\n", 501, "chunked"},
      {"coding_parameter", kPost + "Transfer-Encoding: chunked;a=b\r\n\r\n", 501, "chunked"},
      {"coding_empty", kPost + "Transfer-Encoding:\r\n\r\n", 501, "chunked"},
      {"coding_in_1_0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
       "1.1"},
  };
}

std::vector<HeadCase> bad_repeats() {
  return {
      {"two_authorizations", kGet + "Host: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400,
       "once"},
      {"two_idempotency_keys", kPost + "Idempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n", 400,
       "once"},
      {"two_types", kPost + "Content-Type: a\r\nContent-Type: b\r\n\r\n", 400, "once"},
      {"expect_other", kPost + "Expect: 200-ok\r\n\r\n", 417, "100-continue"},
  };
}

std::vector<HeadCase> bad_targets() {
  return {
      {"absolute_form", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "without scheme"},
      {"authority_form", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "path"},
      {"asterisk_form", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "path"},
      {"empty_target", "GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400, "path"},
      {"space_in_target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "%XX"},
      {"fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "%XX"},
      {"byte_above_127_in_target", "GET /\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n", 400, "%XX"},
      {"bad_escape", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "hexadecimal"},
      {"short_escape", "GET /%2 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "hexadecimal"},
      {"escaped_nul", "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "NUL"},
      {"long_target", "GET /" + std::string(8192, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414,
       "8192"},
  };
}

std::vector<HeadCase> bad_request_lines() {
  return {
      {"no_version", "GET /\r\nHost: a\r\n\r\n", 400, "request line"},
      {"only_a_word", "GET\r\nHost: a\r\n\r\n", 400, "request line"},
      {"http_2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "HTTP/1.1"},
      {"http_1_2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505, "HTTP/1.1"},
      {"http_lower", "GET / http/1.1\r\nHost: a\r\n\r\n", 400, "HTTP/1.1"},
      {"preface_of_http_2", "PRI * HTTP/2.0\r\n\r\n", 505, "HTTP/1.1"},
      {"tab_for_space", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "request line"},
      {"space_behind_version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400, "HTTP/1.1"},
      {"empty_method", " / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
      {"method_of_bad_characters", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
      {"long_method", std::string(33, 'A') + " / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method"},
  };
}

std::vector<HeadCase> large_heads() {
  return {
      {"too_many_fields", kGet + "Host: a\r\n" + fields_of(100) + "\r\n", 431, "100"},
      {"too_many_bytes", kGet + "Host: a\r\nX: " + std::string(16'384, 'x') + "\r\n\r\n", 431,
       "16384"},
  };
}

std::vector<HeadCase> head_cases() {
  std::vector<HeadCase> all;
  for (const auto& some : {good_heads(), bad_hosts(), bad_lines(), bad_fields(), bad_bodies(),
                           bad_repeats(), bad_targets(), bad_request_lines(), large_heads()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class HeadCheck : public testing::TestWithParam<HeadCase> {};

TEST_P(HeadCheck, IsGoodOrSaysWhatIsWrong) {
  const HeadCase& each = GetParam();
  ASSERT_EQ(head_length(each.head), each.head.size()) << "the case is not a whole head";
  const auto fault = check_head(each.head, {});
  ASSERT_EQ(fault.has_value(), each.status != 0) << (fault ? fault->title : "");
  if (!fault) return;
  EXPECT_EQ(fault->status, each.status);
  EXPECT_NE(fault->title.find(each.says), std::string::npos) << fault->title;
}

INSTANTIATE_TEST_SUITE_P(Heads, HeadCheck, testing::ValuesIn(head_cases()),
                         [](const auto& each) { return each.param.name; });

// For every division into pieces.
TEST(HeadLength, IsTheSameForEveryPiece) {
  for (const HeadCase& each : head_cases()) {
    for (std::size_t step = 1; step <= 5; ++step) {
      std::size_t seen = 0;
      std::size_t length = 0;
      for (std::size_t size = step; length == 0 && size < each.head.size() + step; size += step) {
        const auto so_far = std::string_view(each.head).substr(0, size);
        length = head_length(so_far, seen);
        seen = so_far.size();
      }
      EXPECT_EQ(length, each.head.size()) << each.name << " in steps of " << step;
    }
  }
}

TEST(HeadLength, EndsBeforeTheBody) {
  const std::string head = kGet + "Host: a\r\n\r\n";
  EXPECT_EQ(head_length(head + "body\r\n\r\n"), head.size());
  EXPECT_EQ(head_length(head.substr(0, head.size() - 1)), 0U);
  EXPECT_EQ(head_length(""), 0U);
}

TEST(HeadTarget, MayHaveRawBytesWhereThatIsSaid) {
  HeadBounds bounds;
  bounds.raw_target = true;
  const auto fault = [&](const std::string& target) {
    return check_head("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", bounds);
  };
  EXPECT_FALSE(fault("/\xc3\xbc?\xff"));
  for (const char* target : {"/a b", "/\x7f", "/\x01", "/#", "/%zz", "/%00", "\xc3\xbc"}) {
    EXPECT_TRUE(fault(target)) << target;
  }
}

}  // namespace
}  // namespace allot::gateway::http

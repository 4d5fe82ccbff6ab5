// SPDX-License-Identifier: Apache-2.0
// Public addresses, and addresses permitted by an allow-list.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "address.h"
#include "connector.h"
#include "url.h"

namespace http_plugin {
namespace {

std::string purpose(const std::string& text) {
  const auto address = parse_address(text);
  return address ? special_purpose_of(*address) : "no address";
}

TEST(HttpAddress, TheRegistriesDecide) {
  const struct {
    const char* address;
    const char* purpose;  // empty: globally reachable
  } kCases[] = {
      {"93.184.216.34", ""},
      {"1.1.1.1", ""},
      {"9.255.255.255", ""},
      {"11.0.0.0", ""},
      {"0.0.0.0", "this network"},
      {"0.1.2.3", "this network"},
      {"10.0.0.0", "private use"},
      {"10.255.255.255", "private use"},
      {"100.63.255.255", ""},
      {"100.64.0.0", "shared address space"},
      {"100.127.255.255", "shared address space"},
      {"100.128.0.0", ""},
      {"127.0.0.1", "loopback"},
      {"127.255.255.255", "loopback"},
      {"128.0.0.0", ""},
      {"169.254.169.254", "link-local"},
      {"172.15.255.255", ""},
      {"172.16.0.0", "private use"},
      {"172.31.255.255", "private use"},
      {"172.32.0.0", ""},
      {"192.0.0.1", "IETF protocol assignments"},
      {"192.0.0.8", "IETF protocol assignments"},
      {"192.0.0.9", ""},
      {"192.0.0.10", ""},
      {"192.0.0.170", "IETF protocol assignments"},
      {"192.0.1.0", ""},
      {"192.0.2.1", "documentation"},
      {"192.31.196.1", ""},
      {"192.52.193.1", ""},
      {"192.88.99.1", "6to4 relays"},
      {"192.168.0.1", "private use"},
      {"192.175.48.1", ""},
      {"198.17.255.255", ""},
      {"198.18.0.0", "benchmarking"},
      {"198.19.255.255", "benchmarking"},
      {"198.20.0.0", ""},
      {"198.51.100.1", "documentation"},
      {"203.0.113.1", "documentation"},
      {"223.255.255.255", ""},
      {"224.0.0.1", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.0", "reserved"},
      {"255.255.255.255", "reserved"},
      {"::", "unspecified"},
      {"::1", "loopback"},
      {"::127.0.0.1", "compatible with IPv4"},
      {"::93.184.216.34", "compatible with IPv4"},
      {"::ffff:127.0.0.1", "mapped from IPv4"},
      {"::ffff:93.184.216.34", "mapped from IPv4"},
      {"::ffff:0:127.0.0.1", "not assigned"},
      {"64:ff9b::7f00:1", "NAT64 of 127.0.0.1, loopback"},
      {"64:ff9b::a9fe:a9fe", "NAT64 of 169.254.169.254, link-local"},
      {"64:ff9b::5db8:d822", ""},
      {"64:ff9b:0:1::1", "not assigned"},
      {"64:ff9b:1::1", "NAT64 of a network's own"},
      {"64:ff9b:1:ffff:ffff:ffff:5db8:d822", "NAT64 of a network's own"},
      {"64:ff9b:2::1", "not assigned"},
      {"100::1", "discard only"},
      {"100:0:0:1::1", "dummy prefix"},
      {"200::1", "not assigned"},
      {"1fff::1", "not assigned"},
      {"2000::1", ""},
      {"2001::", "Teredo"},
      {"2001:0:5db8:d822:0:0:80ff:fffe", "Teredo"},
      {"2001:1::", "IETF protocol assignments"},
      {"2001:1::1", ""},
      {"2001:1::2", ""},
      {"2001:1::3", ""},
      {"2001:1::4", "IETF protocol assignments"},
      {"2001:2::1", "IETF protocol assignments"},
      {"2001:3::1", ""},
      {"2001:4:112::1", ""},
      {"2001:4:113::1", "IETF protocol assignments"},
      {"2001:10::1", "IETF protocol assignments"},
      {"2001:20::1", ""},
      {"2001:2f:ffff::1", ""},
      {"2001:30::1", ""},
      {"2001:40::1", "IETF protocol assignments"},
      {"2001:1ff:ffff::1", "IETF protocol assignments"},
      {"2001:200::1", ""},
      {"2001:db8::1", "documentation"},
      {"2001:db9::1", ""},
      {"2002:7f00:1::", "6to4"},
      {"2002:5db8:d822::1", "6to4"},
      {"2003::1", ""},
      {"2606:2800:220:1::1", ""},
      {"2620:4f:8000::1", ""},
      {"3ffe:ffff::1", ""},
      {"3fff::1", "documentation"},
      {"3fff:fff:ffff::1", "documentation"},
      {"3fff:1000::1", ""},
      {"4000::1", "not assigned"},
      {"5f00::1", "segment routing"},
      {"fbff::1", "not assigned"},
      {"fc00::1", "unique local"},
      {"fdff::1", "unique local"},
      {"fe7f::1", "not assigned"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fec0::1", "site-local"},
      {"feff::1", "site-local"},
      {"ff02::1", "multicast"},
      {"ff0e::1", "multicast"},
  };
  for (const auto& each : kCases) EXPECT_EQ(purpose(each.address), each.purpose) << each.address;
}

TEST(HttpAddress, IsWrittenInOneWayOnly) {
  for (const char* text : {"127.1", "0x7f.0.0.1", "2130706433", "017700000001", "127.0.0.01",
                           "127.0.0.1.", " 127.0.0.1", "127.0.0.1 ", "", "1.2.3.256", "[::1]",
                           "::1%lo", "::1/128", "1::2::3", "12345::"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_FALSE(parse_address(std::string("127.0.0.1\0x", 11)));
  EXPECT_EQ(text_of(*parse_address("0:0:0:0:0:0:0:1")), "::1");
  EXPECT_EQ(text_of(*parse_address("10.1.2.3")), "10.1.2.3");
}

std::string refusal_of(const std::string& url) {
  try {
    const Url read = parse_url(url);
    return "taken as " + text_of(read.origin) + " " + read.path;
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(HttpUrl, IsReadStrictly) {
  EXPECT_EQ(refusal_of("http://Example.COM"), "taken as http://example.com:80 /");
  EXPECT_EQ(refusal_of("HTTPS://example.com:8443/a/b?c=d&e=%20"),
            "taken as https://example.com:8443 /a/b?c=d&e=%20");
  EXPECT_EQ(refusal_of("https://example.com?x"), "taken as https://example.com:443 /?x");
  EXPECT_EQ(refusal_of("http://[0:0::1]:1/"), "taken as http://[::1]:1 /");
  EXPECT_EQ(refusal_of("http://10.0.0.1/x@y:z"), "taken as http://10.0.0.1:80 /x@y:z");
  EXPECT_EQ(refusal_of("http://a_b.c-d.0x0g/"), "taken as http://a_b.c-d.0x0g:80 /");
  for (const char* url : {"",
                          "/",
                          "example.com",
                          "ftp://example.com/",
                          "file:///etc/passwd",
                          "gopher://127.0.0.1/",
                          "http:/example.com",
                          "http://",
                          "http:///x",
                          "http://?x",
                          "http://user@example.com/",
                          "http://user:pw@example.com/",
                          "http://example.com@127.0.0.1/",
                          "http://example.com#@a/",
                          "http://example.com/#x",
                          "http://exa mple.com/",
                          "http://example.com/a b",
                          "http://example.com/\n",
                          "http://example.com\\@127.0.0.1/",
                          "http://ex%61mple.com/",
                          "http://\xC3\xA9.example/",
                          "http://example..com/",
                          "http://.example.com/",
                          "http://example.com./",
                          "http://127.1/",
                          "http://0x7f.1/",
                          "http://0x7f000001/",
                          "http://2130706433/",
                          "http://017700000001/",
                          "http://127.0.0.01/",
                          "http://0/",
                          "http://1.2.3.4.5/",
                          "http://1.2.3.256/",
                          "http://1.2.3.0x4/",
                          "http://0x/",
                          "http://[::1/",
                          "http://[::1]x/",
                          "http://[127.0.0.1]/",
                          "http://[fe80::1%eth0]/",
                          "http://[::g]/",
                          "http://[]/",
                          "http://example.com:/",
                          "http://example.com:0/",
                          "http://example.com:65536/",
                          "http://example.com:080/",
                          "http://example.com:8o/",
                          "http://example.com:+80/",
                          "http://example.com:1:2/",
                          "http://example.com:99999999999/"}) {
    EXPECT_NE(refusal_of(url).rfind("taken", 0), 0U) << url << ": " << refusal_of(url);
  }
  EXPECT_NE(refusal_of("http://" + std::string(64, 'a') + ".com/").rfind("taken", 0), 0U);
  EXPECT_NE(refusal_of("http://a/" + std::string(8000, 'a')).rfind("taken", 0), 0U);
}

TEST(HttpUrl, TheFieldHostLeavesOutAPortThatGoesWithoutSaying) {
  EXPECT_EQ(host_field(parse_origin("http://example.com")), "example.com");
  EXPECT_EQ(host_field(parse_origin("https://example.com:443")), "example.com");
  EXPECT_EQ(host_field(parse_origin("https://example.com:80")), "example.com:80");
  EXPECT_EQ(host_field(parse_origin("http://[::1]:8080")), "[::1]:8080");
}

TEST(HttpAllowList, IsEmptyByDefault) {
  const AllowList none;
  EXPECT_FALSE(none.has(parse_origin("http://example.com")));
}

TEST(HttpAllowList, AnEntryIsSchemeHostAndPort) {
  const AllowList list({"https://example.com", "http://10.1.2.3:8080"});
  EXPECT_TRUE(list.has(parse_origin("https://EXAMPLE.com:443")));
  EXPECT_FALSE(list.has(parse_origin("http://example.com:443")));
  EXPECT_FALSE(list.has(parse_origin("https://example.com:444")));
  EXPECT_FALSE(list.has(parse_origin("https://www.example.com")));
  EXPECT_THROW(AllowList({"https://example.com/path"}), std::invalid_argument);
  EXPECT_THROW(AllowList({"example.com"}), std::invalid_argument);
  EXPECT_THROW(AllowList({"https://*.example.com"}), std::invalid_argument);
}

TEST(HttpAllowList, AnAddressThatIsNotGlobalNeedsAnEntryOfItsOwn) {
  const AllowList list({"http://example.com:8080", "http://10.1.2.3:8080", "http://[::1]:8080"});
  const Origin origin = parse_origin("http://example.com:8080");
  const auto refusal = [&](const char* address) {
    return list.refusal(origin, *parse_address(address));
  };
  EXPECT_EQ(refusal("93.184.216.34"), "");
  EXPECT_EQ(refusal("10.1.2.3"), "");
  EXPECT_EQ(refusal("::1"), "");
  EXPECT_EQ(refusal("10.1.2.4"),
            "10.1.2.4 is not globally reachable (private use), and no entry of allow names "
            "http://10.1.2.4:8080");
  EXPECT_NE(refusal("::ffff:10.1.2.3"), "") << "another way to write it is another address";
  EXPECT_NE(list.refusal(parse_origin("https://example.com:8080"), *parse_address("10.1.2.3")), "");
  EXPECT_NE(list.refusal(parse_origin("http://example.com:80"), *parse_address("10.1.2.3")), "");
}

}  // namespace
}  // namespace http_plugin

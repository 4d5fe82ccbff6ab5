// SPDX-License-Identifier: Apache-2.0
// Valid settings of the section [plugins.http].
#include "support/temp_dir.h"
#include "unit/plugins/http_fixture.h"

namespace allot {
namespace {

std::string trouble_with(const test::Settings& settings) {
  try {
    test::Handler handler("t", settings);
    return "none";
  } catch (const std::exception& error) {
    return error.what();
  }
}

test::Settings with(const std::string& key, const std::string& value) {
  return {{"allow", "https://example.com"},
          {"types.t.url", "https://example.com/x"},
          {"types.t." + key, value}};
}

TEST(HttpSettings, EachMistakeIsNamed) {
  const std::string where = "[plugins.http.types.\"t\"] ";
  EXPECT_EQ(trouble_with({{"types.t.url", "https://example.com/x"}}),
            where +
                "url: its target is not allowed; write allow = "
                "[\"https://example.com:443\"] into [plugins.http]");
  EXPECT_EQ(trouble_with({{"types.t.verdict", "body"}}),
            where + "url = \"https://example.com/tasks\" is needed");
  EXPECT_EQ(trouble_with({{"types.t.url", "ftp://example.com"}}),
            where + "url = \"ftp://example.com\": it must begin with https:// or http://");
  EXPECT_EQ(trouble_with({{"allow", "example.com"}, {"types.t.url", "https://example.com"}}),
            "[plugins.http] allow: 'example.com': it must begin with https:// or http://; write "
            "scheme, host and port: \"https://example.com\", \"http://10.1.2.3:8080\"");
  EXPECT_EQ(trouble_with({{"alow", "x"}, {"types.t.url", "https://example.com"}}),
            "[plugins.http] has no key 'alow'; write allow = [...] and "
            "[plugins.http.types.\"TYPE\"]");
  EXPECT_EQ(trouble_with(with("verdict", "both")),
            where + "verdict must be \"status\" or \"body\"");
  EXPECT_EQ(trouble_with(with("timeout", "5")),
            where + "timeout = \"5\" is not a time; write \"300ms\", \"30s\", \"5m\"");
  EXPECT_EQ(trouble_with(with("keep_alive", "721h")), where + "keep_alive is at most 720h");
  EXPECT_EQ(trouble_with(with("timeout", "0s")), where + "timeout must be more than 0");
  EXPECT_EQ(trouble_with(with("tls_cert", "/etc/hostname")),
            where + "tls_cert and tls_key need each other");
  EXPECT_EQ(trouble_with(with("tls_ca", "ca.pem")), where + "tls_ca must be an absolute path");
  EXPECT_EQ(trouble_with(with("tls_ca", "/no/ca.pem")),
            where + "tls_ca: /no/ca.pem: No such file or directory");
  EXPECT_EQ(trouble_with(with("content_type", "a\r\nX: y")),
            where + "content_type must be a type such as \"application/json\"");
  EXPECT_EQ(trouble_with(with("ulr", "x")), where + "unknown key 'ulr'; did you mean 'url'?");
  EXPECT_EQ(
      trouble_with(with("method", "x")).rfind(where + "unknown key 'method'; known: url, ", 0), 0U);
  EXPECT_EQ(trouble_with({{"types.t.send.url", "https://example.com"}}),
            where + "a type with a dot needs quotes, as in [plugins.http.types.\"t.send\"]");
  EXPECT_EQ(trouble_with(with("keep_alive", "0s")), "none");
  EXPECT_EQ(trouble_with({{"allow", "http://10.0.0.1"},
                          {"types.t.url", "http://10.0.0.1"},
                          {"types.t.tls_ca", "/etc/hostname"}}),
            where + "tls_... need an https url");
}

TEST(HttpSettings, ASecretIsNotShort) {
  support::TempDir folder;
  const std::string file = folder.write("secret", "short\n");
  EXPECT_EQ(trouble_with(with("secret_file", file)),
            "[plugins.http.types.\"t\"] secret_file: " + file + " has less than 16 bytes");
  EXPECT_EQ(trouble_with(with("secret_file", folder.write("s", "sixteen bytes...\n"))), "none");
}

TEST(HttpSettings, FilesThatAreNoCertificatesAreRefused) {
  support::TempDir folder;
  const std::string file = folder.write("ca.pem", "nothing\n");
  EXPECT_EQ(
      trouble_with(with("tls_ca", file)).rfind("tls_ca, tls_cert or tls_key cannot be used: ", 0),
      0U)
      << trouble_with(with("tls_ca", file));
}

}  // namespace
}  // namespace allot

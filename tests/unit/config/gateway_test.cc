// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "config/networks.h"
#include "config/rows.h"
#include "unit/config/fixture.h"

// [gateway] and its sections.
namespace allot::config {
namespace {

class GatewayConfig : public ConfigTest {
 protected:
  // The settings, or the message, of a file with an account for the gateway in lines 1 and 2,
  // followed by `text`.
  [[nodiscard]] Settings with(const std::string& text) const { return load_text(kAccount + text); }
  [[nodiscard]] std::string refused(const std::string& text) const {
    return failure_of(kAccount + text);
  }
  [[nodiscard]] static std::string token(const std::string& name, char digit) {
    return "[gateway.tokens." + name + "]\nsha256 = \"" + std::string(64, digit) +
           "\"\nread = [\"*\"]\n";
  }

  static inline const std::string kAccount = "[gateway.database]\nuser = \"g\"\n";
};

TEST_F(GatewayConfig, WithoutASectionThereIsNone) {
  EXPECT_FALSE(load(options()).gateway);
  EXPECT_TRUE(with("").gateway) << "a section inside is one";
}

TEST_F(GatewayConfig, ReadsEveryKey) {
  const std::string cert = write("cert.pem", "x");
  const std::string key = write("key.pem", "x");
  const std::string cookie = write("cookie.key", std::string(32, 'x'));
  ASSERT_EQ(::chmod(key.c_str(), 0640), 0);
  ASSERT_EQ(::chmod(cookie.c_str(), 0600), 0);
  const Settings settings = with(
      "[gateway]\nlisten = [\"0.0.0.0:8443\", \"[::1]:80\"]\nsocket = \"s\"\ngrant = \"none\"\n"
      "tls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\ninsecure = true\nhosts = [\"a.b\"]\n"
      "base_path = \"/allot\"\ntrusted_proxies = [\"unix\", \"10.0.0.0/8\"]\n"
      "user_header = \"X-User\"\nui = false\ncookie_key_file = \"cookie.key\"\nread_only = "
      "true\nthreads = 2\nmax_connections = 10\n"
      "max_connections_per_peer = 3\nmax_body_memory = 9\n[gateway.tokens.ci]\nsha256 = \"" +
      std::string(64, 'F') +
      "\"\nread = [\"*\"]\nsubmit = [\"mail\", \"big.reports\"]\noperate = []\n"
      "expires = 9999-01-31\n[gateway.users.\"anna@example.com\"]\noperate = [\"mail\"]\n");
  const Gateway& gateway = settings.gateway.value();
  EXPECT_EQ(gateway.addresses, (std::vector<Server>{{"0.0.0.0", 8443}, {"::1", 80}}));
  EXPECT_EQ(gateway_socket(settings), folder() + "/s");
  EXPECT_EQ(gateway.grant, "none");
  EXPECT_EQ(gateway.tls_cert, cert);
  EXPECT_EQ(gateway.tls_key, key);
  EXPECT_TRUE(gateway.insecure);
  EXPECT_EQ(gateway.hosts, kind::Names{"a.b"});
  EXPECT_EQ(gateway.base_path, "/allot");
  EXPECT_EQ(gateway.trusted_proxies.size(), 2U);
  EXPECT_EQ(gateway.user_header, "x-user") << "as fields of a request are named";
  EXPECT_FALSE(gateway.ui);
  EXPECT_EQ(gateway.cookie_key_file, cookie);
  EXPECT_TRUE(gateway.read_only);
  EXPECT_EQ(gateway.threads, 2U);
  EXPECT_EQ(gateway.max_connections, 10U);
  EXPECT_EQ(gateway.max_connections_per_peer, 3U);
  EXPECT_EQ(gateway.max_body_memory, 9U);
  ASSERT_EQ(gateway.tokens.size(), 1U);
  EXPECT_EQ(gateway.tokens[0].name, "ci");
  EXPECT_EQ(gateway.tokens[0].sha256, std::string(64, 'f'));
  EXPECT_EQ(gateway.tokens[0].submit, (kind::Names{"mail", "big.reports"}));
  EXPECT_EQ(gateway.tokens[0].expires_at, parse_time("9999-01-31T00:00:00Z"));
  ASSERT_EQ(gateway.users.size(), 1U);
  EXPECT_EQ(gateway.users[0].name, "anna@example.com");
  EXPECT_EQ(gateway.users[0].operate, kind::Names{"mail"});
  EXPECT_EQ(settings.warnings, std::vector<std::string>{});
}

TEST_F(GatewayConfig, ACookieKeyIsLongEnoughAndThere) {
  const auto complaint = [&](const std::string& name) {
    try {
      (void)with("[gateway]\ncookie_key_file = \"" + name + "\"\n");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  (void)write("short.key", std::string(31, 'x'));
  EXPECT_NE(complaint("short.key").find("fewer than 32 bytes"), std::string::npos);
  EXPECT_NE(complaint("missing.key").find("cannot read"), std::string::npos);
}

TEST_F(GatewayConfig, TheAccountIsItsOwnAndTheAddressComesFromTheDatabase) {
  const std::string database =
      "[database]\nhost = \"db1\"\nport = 7\nuser = \"w\"\npassword = \"x\"\nname = \"jobs\"\n"
      "call_timeout = \"3s\"\n";
  const Settings settings = with("password = \"y\"\n" + database);
  const Database& own = settings.gateway->database;
  EXPECT_EQ(own.servers, (std::vector<Server>{{"db1", 7}}));
  EXPECT_EQ(own.user, "g");
  EXPECT_EQ(own.password, "y");
  EXPECT_EQ(own.name, "jobs");
  EXPECT_EQ(own.call_timeout, seconds(3));
  const Settings elsewhere = with("socket = \"db.sock\"\n" + database);
  EXPECT_EQ(elsewhere.gateway->database.socket, folder() + "/db.sock");
  EXPECT_EQ(elsewhere.gateway->database.password, "") << "the worker's is not for the gateway";
  EXPECT_EQ(elsewhere.database.socket, "");
}

TEST_F(GatewayConfig, APrivateKeyThatOthersReadIsAWarning) {
  static_cast<void>(write("cert.pem", "x"));
  ASSERT_EQ(::chmod(write("key.pem", "x").c_str(), 0644), 0);
  const Settings settings = with("[gateway]\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\n");
  ASSERT_EQ(settings.warnings.size(), 1U);
  EXPECT_EQ(
      shortened(settings.warnings[0]),
      "allot.toml:5: key.pem holds a private key and is open to every user of this host (mode "
      "0644); run chmod o= key.pem");
}

TEST_F(GatewayConfig, NeedsAnAccountOfItsOwn) {
  EXPECT_EQ(failure_of("[gateway]\n[database]\nuser = \"w\"\n"),
            "allot.toml:1: [gateway] needs its own database account, limited to the rights of its "
            "tokens: write [gateway.database] with user and password_file (docs/database.md)");
  EXPECT_EQ(refused("embedded = \"db\"\n"),
            "allot.toml:3: [gateway.database] has no embedded; it is a key of [database]");
  const Settings shared = with("[database]\nuser = \"g\"\n");
  ASSERT_EQ(shared.warnings.size(), 1U);
  EXPECT_NE(shared.warnings[0].find(":2: [gateway.database] user is also the user of [database]"),
            std::string::npos);
}

TEST_F(GatewayConfig, TheEmbeddedDatabaseHasOneAccount) {
  const Settings settings = load_text("[gateway]\n[database]\nembedded = \"db\"\n");
  EXPECT_EQ(settings.gateway->database.socket, folder() + "/db/data/sock");
  EXPECT_EQ(settings.gateway->database.user, "root");
  EXPECT_EQ(gateway_socket(settings), folder() + "/db/run/gateway.sock");
  EXPECT_TRUE(settings.warnings.empty());
}

TEST_F(GatewayConfig, DatabaseErrorIsReportedOnce) {
  EXPECT_EQ(refused("[database]\nhost = \"a,b\"\n"),
            "allot.toml:4: [database] 'a,b' is not a server; write \"HOST\", \"HOST:PORT\" or "
            "\"[ADDRESS]:PORT\"");
  EXPECT_EQ(refused("password = \"a\"\npassword_file = \"b\"\n"),
            "allot.toml:4: [gateway.database] has both password and password_file; remove one");
}

TEST_F(GatewayConfig, BeyondThisHostItNeedsTls) {
  const std::string listen = "[gateway]\nlisten = [\"";
  EXPECT_EQ(
      refused(listen + "192.0.2.1:80\"]\n"),
      "allot.toml:4: [gateway] listen: '192.0.2.1:80' can be reached from other hosts, and tokens "
      "would cross the network in clear text; set tls_cert and tls_key, or insecure = true");
  EXPECT_NE(refused(listen + "[::]:80\"]\n").find("'[::]:80' can be reached"), std::string::npos);
  EXPECT_TRUE(with(listen + "192.0.2.1:80\"]\ninsecure = true\n").gateway);
  EXPECT_TRUE(with(listen + "127.8.0.1:80\", \"[::1]:80\"]\n").gateway);
  for (const char* wrong : {"localhost:80", "80", "127.0.0.1", "127.0.0.1:0", "[::1]", ""}) {
    EXPECT_EQ(refused(listen + wrong + "\"]\n"),
              std::string("allot.toml:4: [gateway] listen: '") + wrong +
                  "' is not an address with a port; write \"127.0.0.1:8080\" or \"[::1]:8080\"");
  }
}

TEST_F(GatewayConfig, CertificateAndKeyNeedEachOther) {
  const std::string cert = write("cert.pem", "x");
  EXPECT_EQ(refused("[gateway]\ntls_cert = \"cert.pem\"\n"),
            "allot.toml:4: [gateway] tls_cert and tls_key need each other");
  EXPECT_EQ(shortened(refused("[gateway]\ntls_cert = \"cert.pem\"\ntls_key = \"none.pem\"\n")),
            "allot.toml:5: [gateway] tls_key: cannot read none.pem: No such file or directory");
}

TEST_F(GatewayConfig, NamesAndPathsAreOnes) {
  const auto line = [&](const std::string& text) { return refused("[gateway]\n" + text + "\n"); };
  EXPECT_EQ(line("hosts = [\"a:80\"]"),
            "allot.toml:4: [gateway] hosts: 'a:80' is not a name; write \"jobs.example.com\"");
  for (const char* wrong : {"allot", "/allot/", "/a//b", "/a b", "/a?b"}) {
    EXPECT_EQ(line("base_path = \"" + std::string(wrong) + "\""),
              "allot.toml:4: [gateway] base_path is \"" + std::string(wrong) +
                  "\"; write a path such as \"/allot\", without a / at its end");
  }
  EXPECT_EQ(with("[gateway]\nbase_path = \"/\"\n").gateway->base_path, "");
}

TEST_F(GatewayConfig, OnlyATrustedProxyNamesUsers) {
  const auto line = [&](const std::string& text) { return refused("[gateway]\n" + text + "\n"); };
  EXPECT_EQ(line("user_header = \"X-User\""),
            "allot.toml:4: [gateway] user_header needs trusted_proxies, the only addresses that "
            "may send it");
  EXPECT_EQ(
      line("user_header = \"Authorization\"\ntrusted_proxies = [\"::1\"]"),
      "allot.toml:4: [gateway] user_header is \"Authorization\"; write the name of a field of "
      "its own, such as \"X-Forwarded-User\"");
  EXPECT_EQ(line("trusted_proxies = [\"10.0.0.0/33\"]"),
            "allot.toml:4: [gateway] trusted_proxies: '10.0.0.0/33' is not an address; write "
            "\"192.0.2.7\", \"192.0.2.0/24\" or \"unix\"");
  EXPECT_EQ(
      line("user_header = \"X-User\"\ntrusted_proxies = [\"unix\"]"),
      "allot.toml:5: [gateway] trusted_proxies has unix, so a proxy uses the unix socket, which "
      "needs grant = \"none\"; otherwise each user of the proxy has the role of the socket");
  EXPECT_EQ(with("[gateway.users.x]\nread = [\"*\"]\n").warnings.size(), 1U);
  EXPECT_TRUE(with("[gateway]\ntrusted_proxies = [\"::1\"]\n").warnings.empty())
      << "without user_header it names clients with many connections";
}

TEST_F(GatewayConfig, ATokenIsAHashWithARole) {
  const std::string header = "allot.toml:3: [gateway.tokens.a] ";
  const std::string advice = "; allot gateway token makes a token and its section";
  EXPECT_EQ(refused("[gateway.tokens.a]\nread = [\"*\"]\n"),
            header + "needs sha256, the hash of the token" + advice);
  const std::string mistaken =
      refused("[gateway.tokens.a]\nread = [\"*\"]\nsha256 = \"allot_hush\"\n");
  EXPECT_EQ(
      mistaken,
      "allot.toml:5: [gateway.tokens.a] sha256 is not a hash of 64 hexadecimal digits" + advice)
      << "and the value, which is a token, is not said";
  EXPECT_EQ(refused("[gateway.tokens.a]\nsha256 = \"" + std::string(64, '1') + "\"\n"),
            header + "has no role; give it read, submit or operate, such as read = [\"*\"]");
  EXPECT_EQ(refused(token("a", '1') + token("b", '1')),
            "allot.toml:7: [gateway.tokens.b] has the same sha256 as [gateway.tokens.a]");
  EXPECT_EQ(refused(token("a", '1') + "submit = [\"*\", \"mail\"]\n"),
            "allot.toml:6: [gateway.tokens.a] submit: '*' is not a queue; write [\"mail\", "
            "\"reports\"], or [\"*\"] for all");
  EXPECT_EQ(refused(token("a", '1') + "expires = \"tomorrow\"\n"),
            "allot.toml:6: [gateway.tokens.a] expires is \"tomorrow\"; write a date, "
            "\"2027-01-31\", which begins at midnight UTC, or \"2027-01-31T18:00:00Z\"");
}

TEST_F(GatewayConfig, AnExpiredTokenIsReportedAndNotAMistake) {
  const Settings settings = with(token("a", '1') + "expires = 2001-01-31T00:00:00+01:00\n");
  ASSERT_EQ(settings.warnings.size(), 1U);
  EXPECT_EQ(shortened(settings.warnings[0]),
            "allot.toml:6: [gateway.tokens.a] has expired at 2001-01-31T00:00:00+01:00");
}

TEST_F(GatewayConfig, UselessConfigurationIsReported) {
  EXPECT_EQ(with("[gateway]\nlisten = [\"127.0.0.1:80\"]\n").warnings.size(), 1U);
  EXPECT_EQ(with("[gateway]\ngrant = \"none\"\n").warnings.size(), 1U);
  EXPECT_TRUE(with("[gateway]\ngrant = \"none\"\n" + token("a", '1')).warnings.empty());
}

TEST_F(GatewayConfig, Fireworq) {
  EXPECT_FALSE(with("[gateway]\n").gateway->fireworq);
  const Settings settings = with(
      "[gateway.fireworq]\nlisten = \"[::1]:8081\"\nanonymous = true\n"
      "allow_from = [\"192.0.2.0/24\"]\nallow_origins = [\"http://c.example:1\"]\n"
      "names = [\"jobs\"]\nkeep_alive = false\nmax_anonymous_body = 7\nqueue_default = \"d\"\n"
      "queue_default_max_workers = 3\nqueue_default_polling_interval = 5\n");
  const GatewayFireworq& fireworq = settings.gateway->fireworq.value();
  EXPECT_EQ(fireworq.address, (Server{"::1", 8081}));
  EXPECT_TRUE(fireworq.anonymous);
  EXPECT_EQ(fireworq.allow_from, kind::Names{"192.0.2.0/24"});
  EXPECT_EQ(fireworq.allow_origins, kind::Names{"http://c.example:1"});
  EXPECT_EQ(fireworq.names, kind::Names{"jobs"});
  EXPECT_FALSE(fireworq.keep_alive);
  EXPECT_EQ(fireworq.max_anonymous_body, 7U);
  EXPECT_EQ(fireworq.queue_default, "d");
  EXPECT_EQ(fireworq.queue_default_max_workers, 3U);
  EXPECT_EQ(fireworq.queue_default_polling_interval, 5U);
  const std::string section = "[gateway.fireworq]\n";
  EXPECT_EQ(refused(section + "listen = \"8080\"\n"),
            "allot.toml:4: [gateway.fireworq] listen: '8080' is not an address with a port; write "
            "\"127.0.0.1:8080\" or \"[::1]:8080\"");
  EXPECT_NE(refused("[gateway]\nlisten = [\"127.0.0.1:8080\"]\n" + section).find("its own port"),
            std::string::npos);
  EXPECT_NE(refused(section + "allow_from = [\"x\"]\n").find("'x' is not an address"),
            std::string::npos);
  EXPECT_NE(refused(section + "allow_origins = [\"http://a/b\"]\n").find("is not an origin"),
            std::string::npos);
  EXPECT_NE(refused(section + "names = [\"a b\"]\n").find("is not a name"), std::string::npos);
}

TEST_F(GatewayConfig, UnknownSectionsAndKeysAreRefused) {
  EXPECT_EQ(refused("[gateway.token.a]\n"),
            "allot.toml:3: unknown section [gateway.token]; known sections: gateway.database, "
            "gateway.fireworq, gateway.tokens.NAME, gateway.users.NAME");
  EXPECT_EQ(refused("[gateway.users.a.b]\nread = []\n"),
            "allot.toml:3: [gateway.users.a.b]: a name with a dot needs quotes, as in "
            "[gateway.users.\"a.b\"]");
  EXPECT_EQ(refused(token("\"a b\"", '1')),
            "allot.toml:3: [gateway.tokens.a b]: a name has 1 to 63 letters, digits, '_', '-' and "
            "'.'");
  EXPECT_EQ(refused("[gateway]\nthread = 1\n"),
            "allot.toml:4: unknown key 'thread' in [gateway]; did you mean 'threads'?");
}

TEST(Time, IsADateOrHasAZone) {
  using std::chrono::sys_days;
  using namespace std::chrono_literals;
  const std::chrono::sys_seconds day = sys_days(2027y / 1 / 31);
  EXPECT_EQ(parse_time("2027-01-31"), day);
  EXPECT_EQ(parse_time("2027-01-31T18:00:09Z"), day + 18h + 9s);
  EXPECT_EQ(parse_time("2027-01-31T18:00:00+02:30"), day + 15h + 30min);
  EXPECT_EQ(parse_time("2027-01-31T18:00:00-01:00"), day + 19h);
  EXPECT_TRUE(parse_time("2028-02-29"));
  for (const char* wrong :
       {"", "2027", "2027-1-31", "2027-02-29", "2027-13-01", "2027-01-00", "2027-01-31T18:00:00",
        "2027-01-31T24:00:00Z", "2027-01-31T18:60:00Z", "2027-01-31T18:00:00+0200",
        "2027-01-31T18:00:00+24:00", "2027-01-31T18:00:00Z ", "2027-01-31T18:00", "x027-01-31"}) {
    EXPECT_FALSE(parse_time(wrong)) << wrong;
  }
}

TEST(Networks, CoverWhatBeginsAlike) {
  const auto covers = [](const char* network, const char* address) {
    return parse_network(network).value().covers(parse_address(address).value());
  };
  EXPECT_TRUE(covers("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(covers("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(covers("10.1.128.0/17", "10.1.255.1"));
  EXPECT_FALSE(covers("10.1.128.0/17", "10.1.127.1"));
  EXPECT_TRUE(covers("192.0.2.7", "::ffff:192.0.2.7"));
  EXPECT_FALSE(covers("192.0.2.7", "192.0.2.8"));
  EXPECT_TRUE(covers("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(covers("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(covers("fe80::/10", "fe80::1%eth0"));
  EXPECT_TRUE(covers("::/0", "1.2.3.4"));
  for (const char* wrong :
       {"", "a", "10.0.0.0/", "10.0.0.0/33", "::1/129", "10.0.0.0/-1", "10/8", "10.0.0.0/8 "}) {
    EXPECT_FALSE(parse_network(wrong)) << wrong;
  }
  EXPECT_TRUE(is_loopback(parse_address("127.3.2.1").value()));
  EXPECT_TRUE(is_loopback(parse_address("::1").value()));
  EXPECT_FALSE(is_loopback(parse_address("0.0.0.0").value()));
  EXPECT_FALSE(is_loopback(parse_address("::").value()));
}

}  // namespace
}  // namespace allot::config

// SPDX-License-Identifier: Apache-2.0
// Certificates that the plugin http trusts.
#include "support/certificates.h"
#include "unit/plugins/http_fixture.h"

namespace allot {
namespace {

class HttpTlsTest : public HttpTest {
 protected:
  static support::HttpTarget::Tls files(const support::Authority::Files& of,
                                        const std::string& client_ca = {}) {
    return {of.cert, of.key, client_ca};
  }
  // Reason why a target with this certificate gets nothing; empty: it got the task.
  std::string distrust(const support::Authority::Files& of, const test::Settings& more,
                       const std::string& host = "127.0.0.1", const std::string& client_ca = {}) {
    Target target(Target::always(200, "{\"status\":\"success\"}"), files(of, client_ca));
    const std::string origin = "https://" + host + ":" + std::to_string(target.port());
    test::Settings all = settings(origin, more);
    all.emplace("allow", target.origin());
    const auto outcome = test::Handler("t", all).run("x").outcome;
    EXPECT_EQ(target.requests().size(), outcome == success() ? 1U : 0U);
    if (outcome == success()) return {};
    EXPECT_EQ(outcome.kind, ALLOT_RETRY) << "a certificate is renewed some day";
    const std::string begin = "TLS handshake failed with " + origin + ": ";
    EXPECT_TRUE(begins(outcome.reason, begin)) << outcome.reason;
    return outcome.reason.substr(begin.size());
  }

  support::Authority authority_;
  const test::Settings trust_ = {{"tls_ca", authority_.ca()}};
};

TEST_F(HttpTlsTest, ACertificateOfANamedAuthorityIsTrusted) {
  EXPECT_EQ(distrust(authority_.issue("a", "IP:127.0.0.1"), trust_), "");
  EXPECT_EQ(distrust(authority_.issue("n", "DNS:localhost"), trust_, "localhost"), "");
}

TEST_F(HttpTlsTest, ConnectionsAreKeptWithTlsToo) {
  Target target(Target::always(200, ""), files(authority_.issue("a", "IP:127.0.0.1")));
  test::Handler handler("t", settings(target.origin(), trust_));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(handler.run("x").outcome, success());
  EXPECT_EQ(target.connections(), 1U);
}

TEST_F(HttpTlsTest, WithoutItsAuthorityItIsNot) {
  EXPECT_EQ(distrust(authority_.issue("a", "IP:127.0.0.1"), {}),
            "its certificate is not signed by a trusted authority; tls_ca can name the right one");
}

TEST_F(HttpTlsTest, OneThatHasExpiredIsNot) {
  EXPECT_EQ(distrust(authority_.issue("old", "IP:127.0.0.1", -1), trust_),
            "its certificate has expired");
}

TEST_F(HttpTlsTest, OneForAnotherNameIsNot) {
  EXPECT_EQ(distrust(authority_.issue("b", "IP:127.0.0.2,DNS:127.0.0.1,DNS:localhost"), trust_),
            "its certificate does not match the name 127.0.0.1");
  EXPECT_EQ(distrust(authority_.issue("c", "DNS:local,IP:127.0.0.1"), trust_, "localhost"),
            "its certificate does not match the name localhost");
}

TEST_F(HttpTlsTest, OneThatIsSelfSignedIsNotUnlessItIsNamed) {
  const auto alone = authority_.issue_alone("alone", "IP:127.0.0.1");
  EXPECT_EQ(distrust(alone, trust_),
            "its certificate is self-signed; tls_ca may name it, if it is the right certificate");
  EXPECT_EQ(distrust(alone, {{"tls_ca", alone.cert}}), "");
}

TEST_F(HttpTlsTest, ACertificateOfOurOwnIsPresented) {
  const auto server = authority_.issue("a", "IP:127.0.0.1");
  const auto client = authority_.issue("worker", "DNS:worker");
  test::Settings own = trust_;
  own.emplace("tls_cert", client.cert);
  own.emplace("tls_key", client.key);
  EXPECT_EQ(distrust(server, own, "127.0.0.1", authority_.ca()), "");
  // With TLS 1.3 the target refuses after the handshake is complete on this side.
  Target target(Target::always(200, ""), files(server, authority_.ca()));
  EXPECT_EQ(test::Handler("t", settings(target.origin(), trust_)).run("x").outcome.kind,
            ALLOT_RETRY);
  EXPECT_EQ(target.requests().size(), 0U);
}

TEST_F(HttpTlsTest, HangingHandshakeTimesOut) {
  Target target([](Peer& peer) { peer.hold(); });  // does not speak TLS, and stays silent
  const std::string origin = "https://127.0.0.1:" + std::to_string(target.port());
  const auto reason =
      test::Handler("t", settings(origin, {{"timeout", "200ms"}})).run("x").outcome.reason;
  EXPECT_TRUE(begins(reason, "its timeout of 200 ms was over: TLS handshake failed with " + origin))
      << reason;
}

// A cut connection must not look like the end of a shorter answer.
TEST_F(HttpTlsTest, AnEndWithoutAFarewellIsNotTheEndOfAnAnswer) {
  Target target(
      [](Peer& peer) {
        if (peer.request()) peer.send("HTTP/1.0 200 x\r\n\r\npart");
      },
      files(authority_.issue("a", "IP:127.0.0.1")));
  EXPECT_EQ(test::Handler("t", settings(target.origin(), trust_)).run("x").outcome.kind,
            ALLOT_RETRY);
}

TEST_F(HttpTlsTest, PlainTextIsNotTls) {
  Target target([](Peer& peer) {
    peer.send("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n");
    peer.hold();
  });
  const std::string origin = "https://127.0.0.1:" + std::to_string(target.port());
  const auto outcome = test::Handler("t", settings(origin)).run("secret").outcome;
  EXPECT_TRUE(begins(outcome.reason, "TLS handshake failed with " + origin)) << outcome.reason;
}

}  // namespace
}  // namespace allot

// SPDX-License-Identifier: Apache-2.0
// `allot --url`: the connection to a gateway, and other servers at its end. The commands' behaviour
// is compared with the database in tests/contract.
#include "e2e/remote.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "support/certificates.h"

namespace allot::e2e::remote_test {
namespace {

using nlohmann::json;
using support::ExitStatus;
using support::Finished;

TEST_F(Remote, OverTcpATokenIsWanted) {
  start_with_port();
  const std::string file = daemon_->folder() + "/token";
  std::ofstream(file) << token_ << "\n";
  const std::string url = url_to(port_.number());
  const Words words{"--url", url, "submit", "default", "test.ok", "x"};
  const auto with_file = [&](const std::string& path) {
    Words more = words;
    more.insert(more.begin(), {"--token-file", path});
    return far(more);
  };
  EXPECT_EQ(with_file(file).status, (ExitStatus{0, 0})) << with_file(file).err;
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_NE(with_file(file).err.find("allot: warning: " + file +
                                     " holds a token and is open to every user of this host (mode "
                                     "0644); run chmod o= " +
                                     file),
            std::string::npos)
      << with_file(file).err;
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(with_file(file).err, "");
  EXPECT_EQ(far(words, {"ALLOT_TOKEN_FILE=" + file}).status, (ExitStatus{0, 0}));
  EXPECT_EQ(far(words, {"ALLOT_TOKEN=" + token_}).status, (ExitStatus{0, 0}));
  EXPECT_EQ(
      far({"submit", "default", "test.ok", "x"}, {"ALLOT_URL=" + url, "ALLOT_TOKEN=" + token_})
          .status,
      (ExitStatus{0, 0}));
  const auto before = daemon_->count("task");
  EXPECT_EQ(far(words).status, (ExitStatus{kExitConfig, 0})) << "without a token";
  EXPECT_EQ(far(words, {"ALLOT_TOKEN=" + token_ + "x"}).status, (ExitStatus{kExitConfig, 0}));
  const Finished smuggled = far(words, {"ALLOT_TOKEN=a\r\nX-Evil: 1"});
  EXPECT_EQ(smuggled.status, (ExitStatus{kExitConfig, 0}));
  EXPECT_NE(smuggled.err.find("$ALLOT_TOKEN is not a token"), std::string::npos) << smuggled.err;
  EXPECT_EQ(with_file("/nowhere/token").status, (ExitStatus{kExitNoInput, 0}));
  EXPECT_EQ(daemon_->count("task"), before);
}

TEST_F(Remote, OverTlsTheCertificateIsVerified) {
  const support::Authority authority;
  const support::Authority stranger;
  const auto files = authority.issue("gateway", "DNS:localhost");
  start_with_port("tls_cert = \"" + files.cert + "\"\ntls_key = \"" + files.key + "\"\n");
  const std::string local = "https://localhost:" + std::to_string(port_.number());
  const auto submit = [&](const std::string& url, const Words& more, const Words& variables = {}) {
    Words words{"--url", url};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"submit", "default", "test.ok", "x"});
    Words environment = variables;
    environment.push_back("ALLOT_TOKEN=" + token_);
    return far(words, environment);
  };
  const Finished good = submit(local, {"--ca-file", authority.ca()});
  EXPECT_EQ(good.status, (ExitStatus{0, 0})) << good.err;
  EXPECT_EQ(submit(local, {}, {"SSL_CERT_FILE=" + authority.ca()}).status, (ExitStatus{0, 0}))
      << "what the system trusts";
  const Finished system = submit(local, {});
  EXPECT_EQ(system.status, (ExitStatus{kExitConfig, 0})) << system.err;
  const std::string cause =
      " is not trusted: its certificate is not signed by a trusted authority; "
      "--ca-file can name the right one";
  EXPECT_NE(system.err.find(cause), std::string::npos) << system.err;
  const Finished foreign = submit(local, {"--ca-file", stranger.ca()});
  EXPECT_EQ(foreign.status, (ExitStatus{kExitConfig, 0}));
  EXPECT_NE(foreign.err.find(cause), std::string::npos) << foreign.err;
  const Finished named = submit(url_to(port_.number(), "https"), {"--ca-file", authority.ca()});
  EXPECT_EQ(named.status, (ExitStatus{kExitConfig, 0}))
      << "a name that is not in it: " << named.err;
  EXPECT_NE(named.err.find("is not trusted: its certificate does not match the name '"),
            std::string::npos)
      << named.err;
  EXPECT_EQ(submit(local, {"--ca-file", "/nowhere/ca.pem"}).status, (ExitStatus{kExitNoInput, 0}));
  const Finished plain = submit(url_to(port_.number()), {});
  EXPECT_NE(plain.status.code, 0) << "in plain";
  EXPECT_EQ(daemon_->count("task"), 2U);
}

TEST_F(Remote, AGatewayThatIsAwayIsUnavailable) {
  start_with_port();
  gateway_->signal(SIGTERM);
  EXPECT_EQ(gateway_->wait(), (ExitStatus{0, 0}));
  EXPECT_EQ(far({"--url", url_to(port_.number()), "submit", "default", "t", "x"},
                {"ALLOT_TOKEN=" + token_})
                .status,
            (ExitStatus{kExitUnavailable, 0}));
}

TEST(RemoteWords, AreRefusedInOneLine) {
  const std::string urls[] = {
      "ftp://host",        "host:8080",          "https://",      "https://a:b@host",
      "https://host/?x=1", "https://host:99999", "unix:relative", "unix:/" + std::string(200, 'x')};
  for (const std::string& url : urls) {
    const Finished done = far({"--url", url, "why", "0840dqg2v5n80r00"});
    EXPECT_EQ(done.status, (ExitStatus{kExitUsage, 0})) << url << ": " << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_EQ(done.out, "");
  }
  const std::string url = "https://127.0.0.1:1";
  const Words commands[] = {{"status"}, {"migrate"}, {"check"}, {"bench", "idle", "x"}};
  for (const Words& words : commands) {
    Words all{"--url", url};
    all.insert(all.end(), words.begin(), words.end());
    const Finished done = far(all);
    EXPECT_EQ(done.status, (ExitStatus{kExitUsage, 0})) << words.front() << ": " << done.err;
    EXPECT_NE(done.err.find("without --url and $ALLOT_URL"), std::string::npos) << done.err;
    EXPECT_EQ(far(words, {"ALLOT_URL=" + url}).status, (ExitStatus{kExitUsage, 0}));
  }
  EXPECT_EQ(far({"--url", url, "--config", "x", "status"}).status, (ExitStatus{kExitUsage, 0}));
  EXPECT_EQ(far({"--token-file", "x", "status"}).status, (ExitStatus{kExitUsage, 0}));
  const Finished near = far({"--config", "/nowhere/x.toml", "status"}, {"ALLOT_URL=" + url});
  EXPECT_NE(near.err.find("/nowhere/x.toml"), std::string::npos)
      << "a configuration that is named goes before the variable: " << near.err;
}

TEST(RemoteStranger, IsFoundOutAndSaid) {
  const Words show{"task", "show", "0840dqg2v5n80r00"};
  const Words submit{"submit", "q", "t"};
  const std::string json = "application/json";
  const auto code = [](const std::string& bytes, const Words& words) {
    const Finished done = answered(bytes, words);
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    return done.status.code;
  };
  EXPECT_EQ(code(answer("text/html", "<html>"), show), kExitConfig);
  EXPECT_EQ(code(answer("text/html", "<html>", "404 Not Found"), show), kExitConfig);
  EXPECT_EQ(code(answer("text/html", "<html>", "502 Bad Gateway"), show), kExitUnavailable);
  EXPECT_EQ(code(answer(json, "{}"), show), kExitConfig);
  EXPECT_EQ(code(answer("text/html", "<html>", "502 Bad Gateway"), submit), kExitOutcomeUnknown);
  EXPECT_EQ(code(answer("text/html", "<html>", "503 Unavailable"), submit), kExitUnavailable);
  EXPECT_EQ(code(answer(json, "{}"), submit), kExitOutcomeUnknown);
  EXPECT_EQ(code(answer("text/html", "<html>"), submit), kExitOutcomeUnknown);
  EXPECT_EQ(code(answer(json, "[1"), show), kExitConfig);
  EXPECT_EQ(code(answer(json, std::string(100'000, '[')), show), kExitConfig) << "nested";
  EXPECT_EQ(code(answer("application/problem+json", "{}", "400 Bad Request"), show), kExitConfig);
  EXPECT_EQ(code(answer(json, "{", "200 OK", 10), show), kExitUnavailable) << "cut";
  EXPECT_EQ(code(answer(json, "{", "201 Created", 10), submit), kExitOutcomeUnknown) << "cut";
  EXPECT_EQ(code("", submit), kExitOutcomeUnknown) << "no answer at all";
  EXPECT_EQ(code("", show), kExitUnavailable);
  EXPECT_EQ(code("SSH-2.0-OpenSSH\r\n", show), kExitUnavailable);
  const std::string problem = R"({"detail":"too much \u001b[31m","status":503})";
  const Finished busy =
      answered(answer("application/problem+json", problem, "503 Service Unavailable"), submit);
  EXPECT_EQ(busy.status.code, kExitUnavailable);
  EXPECT_EQ(busy.err.find('\x1b'), std::string::npos) << busy.err;
  EXPECT_EQ(code(answer("application/problem+json", problem, "504 Gateway Timeout"), submit),
            kExitOutcomeUnknown);
}

TEST(RemoteStranger, CannotFillTheMemory) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
  const Finished done =
      answered(head + std::string(std::size_t{70} << 20, ' '), {"why", "0840dqg2v5n80r00"});
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("exceeds 64 MiB"), std::string::npos) << done.err;
}

TEST_F(Remote, ALargeBodyDoesNotHideThatTheTokenIsRefused) {
  start_with_port();
  const Words words{"--url", url_to(port_.number()), "submit", "default", "test.ok", "-"};
  const std::string payload(std::size_t{8} << 20, 'x');
  const Finished refused = far(words, {"ALLOT_TOKEN=" + token_ + "x"}, payload);
  EXPECT_EQ(refused.status, (ExitStatus{kExitConfig, 0})) << refused.err;
  const Finished taken = far(words, {"ALLOT_TOKEN=" + token_}, payload);
  EXPECT_EQ(taken.status, (ExitStatus{0, 0})) << taken.err;
  EXPECT_EQ(daemon_->count("task"), 1U);
}

TEST(RemoteLines, AnAnswerWithoutItsLastLineIsOfUnknownOutcome) {
  const std::string type = "application/x-ndjson";
  const std::string line = R"({"queue":"q","type":"t"})"
                           "\n";
  const Words words{"submit", "--ndjson", "-", "--json"};
  const std::string batch = R"({"first_line":1,"last_line":1,"tasks":1,"existed":0})"
                            "\n";
  for (const std::string& body : {std::string(), batch, batch + R"({"ok":)"}) {
    const Finished done = answered(answer(type, body), words, line);
    EXPECT_EQ(done.status, (ExitStatus{kExitOutcomeUnknown, 0})) << done.err;
    EXPECT_EQ(json::parse(done.out)["unknown_lines"], json::parse("[1, 1]")) << done.out;
  }
  const std::string lost =
      R"({"ok":false,"problem":{"status":504,"detail":"the reply to a COMMIT was lost"}})"
      "\n";
  const Finished unknown = answered(answer(type, lost), words, line);
  EXPECT_EQ(unknown.status, (ExitStatus{kExitOutcomeUnknown, 0})) << unknown.err;
  EXPECT_NE(unknown.err.find("line 1: outcome unknown: "), std::string::npos) << unknown.err;
  EXPECT_EQ(json::parse(unknown.out)["unknown_lines"], json::parse("[1, 1]")) << unknown.out;
  const std::string away =
      R"({"ok":false,"problem":{"status":503,"detail":"too many requests are waiting"}})"
      "\n";
  const Finished done = answered(answer(type, away), words, line);
  EXPECT_EQ(done.status, (ExitStatus{kExitUnavailable, 0})) << done.err;
  EXPECT_EQ(json::parse(done.out)["next_line"], 1) << done.out;
}

}  // namespace
}  // namespace allot::e2e::remote_test

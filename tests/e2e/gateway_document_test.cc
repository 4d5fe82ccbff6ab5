// SPDX-License-Identifier: Apache-2.0
// Executes each example of docs/http.md against a gateway: the shell examples in their order,
// compared with the answers on the page, and the examples of each language.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "e2e/gateway.h"
#include "support/document.h"
#include "support/http_client.h"
#include "support/reserved_port.h"
#include "support/text.h"

namespace allot::e2e::gateway_document_test {
namespace {

using nlohmann::json;
using support::ExitStatus;
using support::Finished;
using support::HttpClient;
using support::replaced;

const std::string kPage = ALLOT_SOURCE_DIR "/docs/http.md";

// A command with its continuation lines, and the output shown on the page.
struct Example {
  std::string command;
  std::string shown;
};

std::vector<Example> shell_examples() {
  std::vector<Example> all;
  for (const std::string& block : support::examples(kPage, "console")) {
    std::istringstream lines(block);
    bool goes_on = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("$ ")) {
        all.push_back({line.substr(2), {}});
      } else {
        (goes_on ? all.back().command : all.back().shown) += (goes_on ? "\n" : "") + line;
        if (!goes_on) all.back().shown += "\n";
      }
      goes_on = line.ends_with('\\');
    }
  }
  return all;
}

// Ids, tokens and numbers of actions differ each time.
std::string without_names(const std::string& text) {
  std::string masked =
      std::regex_replace(text, std::regex(R"re("id":"[0-9a-z]{16}")re"), R"("id":"ID")");
  masked = std::regex_replace(masked, std::regex(R"re("token":"[^"]*")re"), R"("token":"...")");
  return std::regex_replace(masked, std::regex("/bulk/[0-9]+"), "/bulk/N");
}

class GatewayDocument : public testing::Test {
 protected:
  GatewayDocument() {
    const std::string made = daemon_.allot({"gateway", "token", "page", "--submit", "*"}).out;
    token_ = made.substr(0, made.find('\n'));
    std::ofstream(daemon_.config_file(), std::ios::app) << made.substr(made.find("[gateway"));
    gateway_ = start_gateway(daemon_);
    wait_listening(daemon_, *gateway_);
  }

  static DaemonOptions options(int port) {
    DaemonOptions options;
    options.start = false;
    options.more = "[queues.mail]\n[queues.images]\n" +
                   gateway_section("listen = [\"127.0.0.1:" + std::to_string(port) + "\"]\n");
    return options;
  }

  [[nodiscard]] Finished run(std::vector<std::string> command, const std::string& token) const {
    support::ProcessOptions options;
    options.directory = folder_.path();
    options.environment = {"ALLOT_TOKEN=" + token};
    return support::run_program(std::move(command), options);
  }
  [[nodiscard]] Finished shell(const std::string& command) const {
    return run({"bash", "-c",
                replaced(command, "/run/allot/default/gateway.sock", gateway_socket(daemon_))},
               {});
  }
  [[nodiscard]] json asked(const std::string& request, const std::string& body = "{}") const {
    auto client = HttpClient::to_socket(gateway_socket(daemon_));
    const auto answer =
        client.ask(request + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
                   "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return answer ? json::parse(answer->body, nullptr, false) : json();
  }
  // Dead tasks that the page requires.
  void make_dead(int tasks) const {
    for (int i = 0; i < tasks; ++i) {
      const json made = asked("POST /api/v1/tasks", R"({"queue":"mail","type":"mail.send"})");
      const json gone = asked("POST /api/v1/tasks/" + made.value("id", "") + "/cancel");
      EXPECT_EQ(gone.value("cancelled", false), true) << gone;
    }
  }
  // The program prints the id of the task that has its key, and fails with an invalid token.
  void expect_submits(const std::string& language, const std::string& interpreter,
                      const std::string& ending) {
    SCOPED_TRACE(language);
    const auto examples = support::examples(kPage, language);
    ASSERT_EQ(examples.size(), 1U);
    const std::string key = "order-" + language;
    const std::string text = replaced(replaced(examples.front(), "order-4711", key), "8080",
                                      std::to_string(port_.number()));
    const std::vector<std::string> words{interpreter, folder_.write("example" + ending, text)};
    const std::uint64_t before = daemon_.count("task");
    const Finished done = run(words, token_);
    ASSERT_EQ(done.status, (ExitStatus{0, 0})) << done.out << done.err;
    const std::string id = asked("GET /api/v1/queues/mail/keys/" + key, "").value("task", "");
    EXPECT_EQ(done.out, id + "\n") << done.err;
    EXPECT_EQ(asked("GET /api/v1/tasks/" + id + "/payload", ""), json({{"to", "ann@example.org"}}));
    const Finished again = run(words, token_);
    EXPECT_EQ(again.out, done.out) << again.err;
    EXPECT_EQ(daemon_.count("task"), before + 1);
    const Finished refused = run(words, "allot_wrong");
    EXPECT_NE(refused.status, (ExitStatus{0, 0}));
    EXPECT_NE((refused.out + refused.err).find("token"), std::string::npos)
        << refused.out << refused.err;
    EXPECT_EQ(daemon_.count("task"), before + 1);
  }

  support::TempDir folder_;
  support::ReservedPort port_;
  Daemon daemon_{options(port_.number())};
  std::string token_;
  std::unique_ptr<support::Process> gateway_;
};

TEST_F(GatewayDocument, TheShellIsAnsweredAsThePageShows) {
  const auto examples = shell_examples();
  ASSERT_GT(examples.size(), 6U);
  (void)folder_.write("photo.jpg", std::string("\xff\xd8\0jpeg", 7));
  make_dead(3);
  std::string token = "...";
  for (const Example& example : examples) {
    SCOPED_TRACE(example.command);
    const Finished done =
        shell(replaced(example.command, R"("token": "...")", R"("token": ")" + token + "\""));
    EXPECT_EQ(done.status, (ExitStatus{0, 0})) << done.err;
    EXPECT_EQ(without_names(done.out), without_names(example.shown)) << done.err;
    const json answer = json::parse(done.out, nullptr, false);
    if (answer.is_object()) token = answer.value("token", token);
  }
  EXPECT_EQ(daemon_.number("SELECT COUNT(*) FROM bulk_action"), 1U);
  EXPECT_EQ(daemon_.count("task"), 1U + 1U + 1207U) << "the dead wait for a steward";
}

TEST_F(GatewayDocument, EachLanguageSubmits) {
  expect_submits("python", "python3", ".py");
  expect_submits("php", "php", ".php");
  expect_submits("js", "node", ".mjs");
}

}  // namespace
}  // namespace allot::e2e::gateway_document_test

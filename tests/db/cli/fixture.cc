// SPDX-License-Identifier: Apache-2.0
#include "db/cli/fixture.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/posix.h"
#include "support/command_line.h"

namespace allot::cli {

namespace {

// Commands that run or execute other programs.
bool is_process(const Words& words, const support::ProcessOptions& options) {
  if (!options.environment.empty() || !options.directory.empty() || !options.descriptors.empty()) {
    return true;
  }
  constexpr std::string_view kStart[] = {"bench", "check", "doctor", "drain", "plugin", "plugins"};
  const bool holds = words.size() > 1 && words[0] == "lock" && words[1] == "run";
  return holds || std::find(std::begin(kStart), std::end(kStart), words.at(0)) != std::end(kStart);
}

}  // namespace

CliTest::CliTest() : CliTest(support::Database::shared(), support::emptied_database()) {}

CliTest::CliTest(support::Database& server) : CliTest(server, server.make_database()) {}

CliTest::CliTest(support::Database& server, std::string database)
    : server_(server), name_(std::move(database)), observer_(server.connect(name_)) {
  config_ = folder_.write("allot.toml", "[database]\nsocket = \"" + server.socket() +
                                            "\"\nuser = \"root\"\nname = \"" + name_ +
                                            "\"\ncall_timeout = \"10s\"\n[daemon]\nruntime_dir = "
                                            "\"run\"\n[queues.default]\npartitions = 1\n"
                                            "[queues.wide]\npartitions = 8\n");
}

support::Finished CliTest::allot(Words words, const support::ProcessOptions& options) const {
  const bool process = is_process(words, options);
  words.insert(words.begin(), {"--config", config_});
  if (!process) return support::run_allot(words, options.input);
  words.insert(words.begin(), ALLOT_PROGRAM);
  return support::run_program(std::move(words), options);
}

support::Finished CliTest::allot_with(Words words, const std::string& input) const {
  return allot(std::move(words), {.input = input});
}

std::string CliTest::must(const Words& words, const std::string& input) const {
  const auto done = allot_with(words, input);
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0}))
      << testing::PrintToString(words) << ": " << done.err;
  return done.out;
}

void CliTest::configure(const std::string& from, const std::string& to) {
  std::string text = support::read_file(config_);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("not in the configuration: " + from);
  std::ofstream(config_) << text.replace(at, from.size(), to);
}

std::vector<std::string> CliTest::payloads() {
  auto results =
      observer_.execute("SELECT payload FROM task ORDER BY queue_id, partition_no, prio, run_key");
  std::vector<std::string> all;
  while (const auto row = results.front().next()) all.emplace_back(row->text(0));
  return all;
}

std::string CliTest::everything() {
  std::string text;
  auto tables = observer_.execute("SHOW TABLES");
  while (const auto table = tables.front().next()) {
    const std::string name(table->text(0));
    text += name + "\n";
    auto columns = observer_.execute("SHOW COLUMNS FROM " + name);
    const std::uint64_t width = columns.front().row_count();
    auto rows = observer_.execute("SELECT * FROM " + name + " ORDER BY 1, 2");
    while (const auto row = rows.front().next()) {
      for (std::uint64_t i = 0; i < width; ++i) text += std::string(row->text(i)) + "|";
      text += "\n";
    }
  }
  return text;
}

void CliTest::block_commits() {
  commit_stop_.emplace(observer_);
}

void CliTest::unblock_commits() {
  commit_stop_.reset();
  const std::string others =
      "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND db = '" +
      name_ + "'";
  EXPECT_TRUE(support::eventually([&] { return value(others) == "0"; }));
}

Fed::Fed(const std::string& config, Words words) {
  words.insert(words.begin(), {ALLOT_PROGRAM, "--config", config});
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const UniqueFd read(ends[0]);
  write_.reset(ends[1]);
  process_ = std::make_unique<support::Process>(
      std::move(words), support::ProcessOptions{.descriptors = {{read.get(), 0}}});
}

void Fed::feed(const std::string& text) {
  if (!write_all(write_.get(), text.data(), text.size())) throw std::runtime_error("feed");
}

bool Fed::all_read() const {
  int left = -1;
  return ::ioctl(write_.get(), FIONREAD, &left) == 0 && left == 0;
}

support::Finished Fed::finish() {
  const auto status = process_->wait(std::chrono::seconds(60));
  if (!status) throw std::runtime_error("allot is still running: " + process_->err());
  return {*status, process_->out(), process_->err()};
}

std::string numbered(int first, int last, const std::string& queue) {
  std::string lines;
  for (int i = first; i <= last; ++i) {
    lines += R"({"queue":")" + queue + R"(","type":"t","payload":")" + std::to_string(i) + "\"}\n";
  }
  return lines;
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in: " << text.substr(0, 2000);
}

}  // namespace allot::cli

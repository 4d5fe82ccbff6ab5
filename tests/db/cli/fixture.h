// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "db/connection.h"
#include "support/commit_stop.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::cli {

using Words = std::vector<std::string>;

// Runs `allot` with an empty database and a fresh configuration for each test. The configuration
// has the queues "default" (one partition) and "wide" (8); the database has neither before the
// first submission.
class CliTest : public testing::Test {
 protected:
  CliTest();
  // Uses a private database, for tests that change its schema or accounts: creating one takes
  // seconds.
  explicit CliTest(support::Database& server);

  // Runs `allot --config ... words`: in this process, unless the command starts programs or the
  // options require a process.
  [[nodiscard]] support::Finished allot(Words words,
                                        const support::ProcessOptions& options = {}) const;
  // The same with these bytes as standard input.
  [[nodiscard]] support::Finished allot_with(Words words, const std::string& input) const;
  // Runs it, expects success and returns its standard output.
  std::string must(const Words& words, const std::string& input = {}) const;

  // Replaces "from" in the configuration.
  void configure(const std::string& from, const std::string& to);
  [[nodiscard]] const std::string& config() const { return config_; }

  // The first field of the first row.
  std::string value(const std::string& sql) { return support::value_of(observer_, sql); }
  std::uint64_t count(const std::string& table) {
    return support::number_of(observer_, "SELECT COUNT(*) FROM " + table);
  }
  // All payloads in the order of their partitions, then of their keys.
  std::vector<std::string> payloads();
  // Every row of every table.
  std::string everything();

  // Between the two calls all commits are blocked, and everything else continues: a COMMIT gets no
  // reply. After the second call everything sent before is decided.
  void block_commits();
  void unblock_commits();

  support::Database& server_;
  support::TempDir folder_;
  std::string name_;
  db::Connection observer_;

 private:
  CliTest(support::Database& server, std::string database);

  std::string config_;
  std::optional<support::CommitStop> commit_stop_;
};

// For tests that change the schema, accounts or the server's identity.
class OwnDatabaseTest : public CliTest {
 protected:
  OwnDatabaseTest() : CliTest(support::Database::shared()) {}
};

// An `allot` whose standard input is written line by line while it runs.
class Fed {
 public:
  explicit Fed(const std::string& config, Words words);
  void feed(const std::string& text);
  // Closes the input.
  void end() { write_.reset(); }
  // True if the program has read everything that was fed.
  [[nodiscard]] bool all_read() const;
  support::Process& process() { return *process_; }
  // Waits for its end.
  support::Finished finish();

 private:
  UniqueFd write_;
  std::unique_ptr<support::Process> process_;
};

// Lines `first` to `last` of NDJSON for a queue, with payloads "first" to "last".
std::string numbered(int first, int last, const std::string& queue = "default");

// True if `text` contains `part`; otherwise prints both.
testing::AssertionResult has(const std::string& text, const std::string& part);

}  // namespace allot::cli

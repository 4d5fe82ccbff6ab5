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

// `allot` over an empty database and a configuration of its own for each test. The configuration
// has the queues "default" (one partition) and "wide" (8); the database has neither before the
// first submission.
class CliTest : public testing::Test {
 protected:
  CliTest();
  // Over a database that no other test has, for one that changes its schema or its accounts: to
  // make one takes seconds.
  explicit CliTest(support::Database& server);

  // Runs `allot --config ... words`: in this process, unless the command starts programs or the
  // options want a process.
  [[nodiscard]] support::Finished allot(Words words,
                                        const support::ProcessOptions& options = {}) const;
  // The same with these bytes as standard input.
  [[nodiscard]] support::Finished allot_with(Words words, const std::string& input) const;
  // Runs it and expects that it goes well; its standard output.
  std::string must(const Words& words, const std::string& input = {}) const;

  // Replaces "from" in the configuration.
  void configure(const std::string& from, const std::string& to);
  [[nodiscard]] const std::string& config() const { return config_; }

  // The first field of the first row.
  std::string value(const std::string& sql) { return support::value_of(look_, sql); }
  std::uint64_t count(const std::string& table) {
    return support::number_of(look_, "SELECT COUNT(*) FROM " + table);
  }
  // All payloads in the order of their partitions, then of their keys.
  std::vector<std::string> payloads();
  // Every row of every table.
  std::string everything();

  // In between nothing can be committed, everything else goes on: a COMMIT gets no reply. After the
  // second all that was sent before is decided.
  void block_commits();
  void unblock_commits();

  support::Database& server_;
  support::TempDir folder_;
  std::string name_;
  db::Connection look_;

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
  // There is no more input.
  void end() { write_.reset(); }
  // True when the program has taken all that was fed.
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

// True when `text` has `part`; prints both when not.
testing::AssertionResult has(const std::string& text, const std::string& part);

}  // namespace allot::cli

// SPDX-License-Identifier: Apache-2.0
//
// Bad input: one clear line with the mistake, its place and the fix, an exit code, nothing lost.
#include <gtest/gtest.h>

#include <fstream>

#include "base/exit_codes.h"
#include "db/migrate.h"
#include "e2e/daemon.h"
#include "support/text.h"

namespace allot::e2e::input_test {
namespace {

using support::eventually;

support::Finished start_with(const std::string& config) {
  return support::run_program({program("allotd"), "--config", config});
}

// The configuration of a daemon that was not started, with `from` replaced by `to`.
std::string changed(const Daemon& daemon, const std::string& from, const std::string& to) {
  const std::string path = daemon.folder() + "/changed.toml";
  std::ofstream(path) << support::replaced_first(support::read_file(daemon.config_file()), from,
                                                 to);
  return path;
}

TEST(Input, ATypoInTheConfigurationIsNamedWithLineAndSuggestion) {
  const Daemon daemon({.start = false});
  const auto done = start_with(changed(daemon, "runtime_dir", "runtime_dri"));
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("changed.toml:7: "), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("did you mean 'runtime_dir'"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("Z ERROR worker worker.failed code=78 error="), std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("check.failed step=config code=78 reason=\"" + daemon.folder()),
            std::string::npos)
      << done.err;
}

TEST(Input, APayloadThatIsNotCompressedAsItSaysIsAClearDeath) {
  const Daemon daemon;
  const std::string large(100'000, 'x');
  EXPECT_EQ(daemon.allot({"submit", "default", "test.write", large, "--compress-above", "1000"})
                .status.code,
            0);
  EXPECT_EQ(daemon.allot({"submit", "default", "test.write", "rubbish", "--compression", "gzip"})
                .status.code,
            0);
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.written(), std::vector<std::string>{large});
  const auto dead = nlohmann::json::parse(daemon.allot({"dead", "list", "--json"}).out);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].at("cause"), "payload");
  const auto shown = daemon.allot({"task", "show", dead[0].at("task")});
  EXPECT_NE(shown.out.find("7 bytes"), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("marked as gzip, but"), std::string::npos) << shown.err;
}

TEST(Input, AMissingConfigurationFileIsNamed) {
  const auto done = start_with("/nonexistent/allot.toml");
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("/nonexistent/allot.toml"), std::string::npos) << done.err;
}

TEST(Input, AWrongPasswordEndsTheStart) {
  const Daemon daemon({.start = false});
  auto db = daemon.connect();
  db.execute("CREATE USER IF NOT EXISTS worker@localhost IDENTIFIED BY 'right'");
  const auto done =
      start_with(changed(daemon, "user = \"root\"", "user = \"worker\"\npassword = \"wrong\""));
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("Access denied"), std::string::npos) << done.err;
  EXPECT_EQ(done.err.find("wrong"), std::string::npos) << "the password is not printed";
}

TEST(Input, AMissingSchemaSaysHowToGetIt) {
  const Daemon daemon({.migrate = false, .start = false});
  const auto done = start_with(daemon.config_file());
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("allot migrate"), std::string::npos) << done.err;
  EXPECT_EQ(daemon.allot({"migrate"}).status.code, 0);
  EXPECT_EQ(daemon.allot({"check"}).status.code, 0);
}

TEST(Input, ANewerSchemaIsRefused) {
  const Daemon daemon({.start = false});
  daemon.connect().execute(
      "INSERT INTO allot_schema VALUES (9999, 'future', 0, UTC_TIMESTAMP(), 'x')");
  const auto done = start_with(daemon.config_file());
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find("9999"), std::string::npos) << done.err;
}

TEST(Input, AnUnreachableDatabaseAtStartIsWaitedFor) {
  support::Database& server = support::Database::shared();
  Daemon daemon({.workers = 1, .start = false});
  server.stop();
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.logged("database.away"); })) << daemon.log();
  EXPECT_TRUE(daemon.process().running());
  const auto done = daemon.allot({"submit", "default", "test.ok", "x"});
  EXPECT_EQ(done.status.code, kExitUnavailable) << done.err;
  server.start();
  ASSERT_TRUE(
      eventually([&] { return daemon.logged("worker worker.ready"); }, std::chrono::seconds(40)))
      << daemon.log();
}

TEST(Input, ABrokenPluginStopsTheStartAndIsNamed) {
  const Daemon daemon({.start = false});
  const support::TempDir plugins;
  const std::string broken = plugins.write("broken.so", "this is not a shared object");
  const auto done = start_with(changed(daemon, probe_folder(), plugins.path()));
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find(broken), std::string::npos) << done.err;
}

TEST(Input, TwoPluginsForOneTypeAreBothNamed) {
  const Daemon daemon({.start = false});
  const support::TempDir plugins;
  const std::string one = plugins.write("a.so", support::read_file(probe_folder() + "/probe.so"));
  const std::string two = plugins.write("b.so", support::read_file(probe_folder() + "/probe.so"));
  const auto done = start_with(changed(daemon, probe_folder(), plugins.path()));
  EXPECT_EQ(done.status.code, kExitConfig);
  EXPECT_NE(done.err.find(one), std::string::npos) << done.err;
  EXPECT_NE(done.err.find(two), std::string::npos) << done.err;
}

TEST(Input, AnUnknownOptionIsAUsageError) {
  const auto done = support::run_program({program("allotd"), "--confg", "x"});
  EXPECT_EQ(done.status.code, kExitUsage);
  EXPECT_EQ(support::run_program({program("allot"), "submit"}).status.code, kExitUsage);
}

}  // namespace
}  // namespace allot::e2e::input_test

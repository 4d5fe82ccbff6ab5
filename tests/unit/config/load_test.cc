// SPDX-License-Identifier: Apache-2.0
// Rule: S80.
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

using Load = ConfigTest;

TEST_F(Load, WithoutAFileHasDefaultsAndOneQueueAndOnePool) {
  const Settings settings = load(options());
  EXPECT_EQ(settings.file, "");
  EXPECT_EQ(settings.database.host, "127.0.0.1");
  EXPECT_EQ(settings.database.port, 3306U);
  EXPECT_EQ(settings.database.servers, (std::vector<Server>{{"127.0.0.1", 3306}}));
  EXPECT_EQ(settings.database.connect_timeout, seconds(5));
  EXPECT_EQ(settings.daemon.lease_ttl, seconds(30));
  EXPECT_EQ(settings.daemon.task_timeout, hours(1));
  EXPECT_FALSE(settings.daemon.cgroup);
  ASSERT_EQ(settings.queues.size(), 1U);
  EXPECT_EQ(settings.queues[0].name, "default");
  EXPECT_EQ(settings.queues[0].partitions, 16U);
  ASSERT_EQ(settings.pools.size(), 1U);
  EXPECT_EQ(settings.pools[0].name, "default");
  EXPECT_EQ(settings.pools[0].size, 4U);
  EXPECT_EQ(settings.pools[0].queues, std::vector<std::string>{"default"});
  EXPECT_NE(settings.plugins.folder.find("/allot/plugins"), std::string::npos);
  EXPECT_TRUE(settings.warnings.empty());
}

constexpr const char* kWholeFile = R"(
[database]
host = "db.example.net"
port = 3307
socket = "run/db.sock"
user = "jobs"
password = "p w"
name = "work"
required = "replicated"
connect_timeout = "1500ms"
call_timeout = "1m"

[wake]
user = "follower"
password_file = "follower"

[daemon]
instance = "blue-2"
runtime_dir = "/run/x/"
lease_ttl = "10s"
stop_timeout = "5s"
task_timeout = "2h"
frozen_after = "4s"
cgroup = true

[queues.mail]
partitions = 4096
block_size = 7
block_seconds = "250ms"
max_attempts = 3
retry_delay = "0s"
retry_delay_max = "10m"
exclusive = true

[queues.batch]

[pools.slow]
size = 2
queues = ["batch", "mail"]

strict = true

[pools.fast]
size = 0
weights = { mail = 3 }

[pools.jobs]
fireworq = true

[plugins]
folder = "plugins"

[plugins.digest]
output = "out.csv"
depth = -3
ratio = 0.5
strict = true

[metrics]
types = ["shop.*", "mail.send"]

[logging]
level = "debug"
file = "../allot.log"
slow_task = "2s"
)";

TEST_F(Load, ReadsEveryKey) {
  write("follower", "w k\n");
  const Settings settings = load_text(kWholeFile);
  const Database& database = settings.database;
  EXPECT_EQ(database.host, "db.example.net");
  EXPECT_EQ(database.port, 3307U);
  EXPECT_EQ(database.servers, (std::vector<Server>{{"db.example.net", 3307}}));
  EXPECT_EQ(database.socket, folder() + "/run/db.sock");
  EXPECT_EQ(database.user, "jobs");
  EXPECT_EQ(database.password, "p w");
  EXPECT_EQ(database.name, "work");
  EXPECT_EQ(database.required, "replicated");
  EXPECT_EQ(database.connect_timeout, milliseconds(1500));
  EXPECT_EQ(database.call_timeout, minutes(1));
  EXPECT_EQ(settings.wake.user, "follower");
  EXPECT_EQ(settings.wake.password_file, folder() + "/follower");
  EXPECT_EQ(settings.wake.password, "w k");
  const Daemon& daemon = settings.daemon;
  EXPECT_EQ(daemon.instance, "blue-2");
  EXPECT_EQ(daemon.runtime_dir, "/run/x");
  EXPECT_EQ(daemon.lease_ttl, seconds(10));
  EXPECT_EQ(daemon.stop_timeout, seconds(5));
  EXPECT_EQ(daemon.task_timeout, hours(2));
  EXPECT_EQ(daemon.frozen_after, seconds(4));
  EXPECT_TRUE(daemon.cgroup);
  ASSERT_EQ(settings.queues.size(), 2U);
  const Queue& mail = settings.queues[0];
  EXPECT_EQ(mail.name, "mail");
  EXPECT_EQ(mail.partitions, 4096U);
  EXPECT_EQ(mail.block_size, 7U);
  EXPECT_EQ(mail.block_seconds, milliseconds(250));
  EXPECT_EQ(mail.max_attempts, 3U);
  EXPECT_EQ(mail.retry_delay, milliseconds(0));
  EXPECT_EQ(mail.retry_delay_max, minutes(10));
  EXPECT_TRUE(mail.exclusive);
  ASSERT_EQ(settings.pools.size(), 3U);
  EXPECT_TRUE(settings.pools[0].strict);
  EXPECT_TRUE(settings.pools[2].fireworq);
  EXPECT_EQ(settings.pools[1].weights, (kind::Weights{{"mail", 3}}));
  EXPECT_EQ(settings.plugins.folder, folder() + "/plugins");
  EXPECT_EQ(settings.metrics.types, (std::vector<std::string>{"shop.*", "mail.send"}));
  EXPECT_EQ(settings.logging.level, "debug");
  EXPECT_EQ(settings.logging.slow_task, std::chrono::seconds(2));
  EXPECT_EQ(settings.logging.file,
            std::filesystem::path(folder()).parent_path().string() + "/allot.log");
}

TEST_F(Load, ATypesOwnRetriesGoBeforeItsQueues) {
  const Settings settings = load_text(R"(
[queues.q]
max_attempts = 4
retry_delay = "2s"
retry_delay_max = "1m"
[queues.listed]
retry_delays = ["1s", "0s"]
[types."few.tries"]
max_attempts = 2
[types.slow]
retry_delay = "5m"
[types.capped]
retry_delay_max = "3s"
[types.listed]
retry_delays = ["7s"]
)");
  const Queue& queue = settings.queues.at(0);
  const Queue& listed = settings.queues.at(1);
  EXPECT_EQ(max_attempts(settings, queue, "few.tries"), 2U);
  EXPECT_EQ(max_attempts(settings, queue, "slow"), 4U);
  EXPECT_EQ(max_attempts(settings, queue, "other"), 4U);
  const auto text = [&](const Queue& in, const char* type) {
    const RetryDelays found = retry_delays(settings, in, type);
    return std::to_string(found.first.count()) + " " + std::to_string(found.most.count()) + " " +
           std::to_string(found.list.size());
  };
  EXPECT_EQ(text(queue, "other"), "2000 60000 0");
  EXPECT_EQ(text(queue, "few.tries"), "2000 60000 0");
  EXPECT_EQ(text(queue, "slow"), "300000 300000 0") << "above the queue's most, as it is written";
  EXPECT_EQ(text(queue, "capped"), "2000 3000 0");
  EXPECT_EQ(retry_delays(settings, queue, "listed").list, std::vector<milliseconds>{seconds(7)});
  EXPECT_EQ(retry_delays(settings, listed, "other").list,
            (std::vector<milliseconds>{seconds(1), seconds(0)}));
  EXPECT_EQ(retry_delays(settings, listed, "few.tries").list.size(), 2U);
  EXPECT_TRUE(retry_delays(settings, listed, "slow").list.empty()) << "it has a pause of its own";
}

TEST_F(Load, ATypeMayHaveItsOwnTimeLimit) {
  const Settings settings = load_text(
      "[daemon]\ntask_timeout = \"20s\"\n[types.slow]\ntask_timeout = \"6h\"\n"
      "[types.few]\nmax_attempts = 2\n");
  EXPECT_EQ(task_timeout(settings, "slow"), hours(6));
  EXPECT_EQ(task_timeout(settings, "few"), seconds(20));
  EXPECT_EQ(task_timeout(settings, "other"), seconds(20));
}

TEST_F(Load, ATypeGoesByItsExactSectionThenByTheLongestPrefix) {
  const Settings settings = load_text(R"(
[types."shop.*"]
max_attempts = 2
task_timeout = "5m"
[types."shop.mail.*"]
max_attempts = 3
[types."shop.mail.one"]
max_attempts = 4
)");
  const Queue& queue = settings.queues.at(0);
  EXPECT_EQ(max_attempts(settings, queue, "shop.order"), 2U);
  EXPECT_EQ(max_attempts(settings, queue, "shop.mail.two"), 3U);
  EXPECT_EQ(max_attempts(settings, queue, "shop.mail.one"), 4U);
  EXPECT_EQ(max_attempts(settings, queue, "shop.mail"), 2U);
  for (const char* other : {"shop", "shop.", "shopping.order"}) {
    EXPECT_EQ(max_attempts(settings, queue, other), 10U) << other;
  }
  EXPECT_EQ(task_timeout(settings, "shop.order"), minutes(5));
  EXPECT_EQ(task_timeout(settings, "shop.mail.two"), settings.daemon.task_timeout)
      << "two sections are not combined";
}

TEST_F(Load, APrefixEndsWithADotAndAStar) {
  for (const char* name : {"*", ".*", "shop*", "sh.*.op", "shop.**"}) {
    EXPECT_NE(failure_of("[types.\"" + std::string(name) + "\"]\nmax_attempts = 2\n")
                  .find("a prefix such as \"shop.*\""),
              std::string::npos)
        << name;
  }
}

TEST_F(Load, KeepsTheOrderOfTheFileAndGivesAPoolEveryQueue) {
  write("follower", "");
  const Settings settings = load_text(kWholeFile);
  ASSERT_EQ(settings.queues.size(), 2U);
  EXPECT_EQ(settings.queues[1].name, "batch");
  ASSERT_EQ(settings.pools.size(), 3U);
  EXPECT_EQ(settings.pools[0].name, "slow");
  EXPECT_EQ(settings.pools[0].queues, (std::vector<std::string>{"batch", "mail"}));
  EXPECT_EQ(settings.pools[1].name, "fast");
  EXPECT_EQ(settings.pools[1].queues, (std::vector<std::string>{"mail", "batch"}));
  EXPECT_TRUE(settings.pools[2].queues.empty()) << "its queues are created by requests";
  EXPECT_EQ(find_queue(settings, "batch"), &settings.queues[1]);
  EXPECT_EQ(find_queue(settings, "nothing"), nullptr);
}

TEST_F(Load, GivesAPluginItsSectionAsText) {
  write("follower", "");
  const Settings settings = load_text(kWholeFile);
  const PluginSection expected = {
      {"output", "out.csv"}, {"depth", "-3"}, {"ratio", "0.5"}, {"strict", "true"}};
  EXPECT_EQ(settings.plugins.sections.at("digest"), expected);
}

TEST_F(Load, JoinsTheKeysOfAPluginsInnerSectionsAndRepeatsThoseOfItsLists) {
  const Settings settings = load_text(
      "[plugins.exec]\nlist = [\"b\", 1, true]\nempty = []\n[plugins.exec.types.\"mail.send\"]\n"
      "command = [\"/bin/b\", \"/bin/a\"]\nenvironment = { LANG = \"C\", \"a\\\"b\" = 1 }\n");
  const PluginSection expected = {{"list", "b"},
                                  {"list", "1"},
                                  {"list", "true"},
                                  {"types.\"mail.send\".command", "/bin/b"},
                                  {"types.\"mail.send\".command", "/bin/a"},
                                  {"types.\"mail.send\".environment.LANG", "C"},
                                  {R"(types."mail.send".environment."a\"b")", "1"}};
  EXPECT_EQ(settings.plugins.sections.at("exec"), expected);
  EXPECT_EQ(settings.lines.at("plugins.exec.types.\"mail.send\".command"), 5U);
}

TEST_F(Load, RemembersTheLineOfEachKey) {
  const Settings settings = load_text("[daemon]\n\ninstance = \"a\"\n[pools.x]\nsize = 1\n");
  EXPECT_EQ(settings.lines.at("daemon.instance"), 3U);
  EXPECT_EQ(settings.lines.at("pools.x"), 4U);
  EXPECT_EQ(settings.lines.at("pools.x.size"), 5U);
  EXPECT_EQ(settings.lines.count("daemon.lease_ttl"), 0U);
}

TEST_F(Load, TakesTheNamedFileThenTheEnvironmentThenTheDefault) {
  const std::string named = write("named.toml", "[daemon]\ninstance = \"named\"\n");
  const std::string environment = write("env.toml", "[daemon]\ninstance = \"env\"\n");
  LoadOptions wanted = options();
  wanted.default_file = write("etc.toml", "[daemon]\ninstance = \"etc\"\n");
  EXPECT_EQ(load(wanted).daemon.instance, "etc");
  ::setenv("ALLOT_CONFIG", environment.c_str(), 1);
  EXPECT_EQ(load(wanted).daemon.instance, "env");
  wanted.file = named;
  EXPECT_EQ(load(wanted).daemon.instance, "named");
  ::unsetenv("ALLOT_CONFIG");
}

TEST_F(Load, SaysWhichNamedFileIsMissing) {
  LoadOptions wanted = options();
  wanted.file = folder() + "/none.toml";
  try {
    static_cast<void>(load(wanted));
    FAIL() << "a missing file was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitConfig);
    EXPECT_EQ(shortened(error.what()),
              "cannot read the configuration file none.toml: No such file or directory");
  }
  ::setenv("ALLOT_CONFIG", folder().c_str(), 1);
  try {
    static_cast<void>(load(options()));
    FAIL() << "a folder was accepted as a file";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "cannot read the configuration file " + folder() +
                                             " (named by $ALLOT_CONFIG): Is a directory");
  }
  ::unsetenv("ALLOT_CONFIG");
}

TEST_F(Load, EmbeddedReplacesTheConnection) {
  const Settings settings = load_text("[database]\nembedded = \"db\"\ncall_timeout = \"3s\"\n");
  EXPECT_EQ(settings.database.embedded, folder() + "/db");
  EXPECT_EQ(settings.database.socket, folder() + "/db/data/sock");
  EXPECT_EQ(settings.database.user, "root");
  EXPECT_EQ(settings.database.password, "");
  EXPECT_EQ(settings.database.name, "allot");
  EXPECT_EQ(settings.database.call_timeout, seconds(3));
  EXPECT_TRUE(settings.warnings.empty());
}

TEST_F(Load, EmbeddedOptionWinsAndIsMadeAbsolute) {
  LoadOptions wanted = options();
  wanted.file = write("allot.toml", "[database]\nembedded = \"db\"\n");
  wanted.embedded = "some/../other/";
  const std::string here = std::filesystem::current_path().string();
  if (here.size() > 90) GTEST_SKIP() << "the working folder is too long for a socket";
  const Settings settings = load(wanted);
  EXPECT_EQ(settings.database.embedded, here + "/other");
}

}  // namespace
}  // namespace allot::config

// SPDX-License-Identifier: Apache-2.0
#include "config/drain.h"

#include "base/error.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

class DrainTest : public ConfigTest {
 protected:
  Settings drained(const Drain& drain) {
    LoadOptions all = options();
    all.file = write(kDrainFile, drain_text(drain));
    return load(all);
  }
};

TEST_F(DrainTest, IsTheOtherConfigurationButForThePool) {
  const std::string other = write("allot.toml",
                                  "[database]\nhost = \"db1\"\n[queues.mail]\nblock_size = 7\n"
                                  "[queues.slow]\n[pools.a]\nsize = 9\n[daemon]\ncgroup = true\n"
                                  "[plugins]\nfolder = \"second\"\n"
                                  "[gateway.database]\nuser = \"g\"\n");
  const Settings settings =
      drained({other, "mail", 3, "drain-1", "/run/x/drain/mail.1", false, ""});
  EXPECT_EQ(settings.database.host, "db1");
  EXPECT_EQ(settings.file, other);
  ASSERT_EQ(settings.pools.size(), 1U);
  EXPECT_EQ(settings.pools[0].size, 3U);
  EXPECT_EQ(settings.pools[0].queues, std::vector<std::string>{"mail"});
  EXPECT_EQ(find_queue(settings, "mail")->block_size, 7U);
  EXPECT_EQ(settings.daemon.instance, "drain-1");
  EXPECT_EQ(runtime_dir(settings), "/run/x/drain/mail.1");
  EXPECT_EQ(settings.drain_budget, "/run/x/drain/mail.1/budget");
  EXPECT_FALSE(settings.daemon.cgroup);
  EXPECT_FALSE(settings.gateway) << "the other daemon's gateway has the addresses";
  EXPECT_EQ(settings.plugins.folder, other.substr(0, other.rfind('/')) + "/second");
  EXPECT_TRUE(load(options()).drain_budget.empty());
}

// The database may have a queue that is missing in the configuration.
TEST_F(DrainTest, MayServeAQueueOfTheDatabase) {
  const Settings settings = drained({"", "unheard", 1, "d", "/run/x", false, ""});
  ASSERT_NE(find_queue(settings, "unheard"), nullptr);
  EXPECT_EQ(settings.pools[0].queues, std::vector<std::string>{"unheard"});
}

TEST_F(DrainTest, TheEmbeddedDatabaseIsStartedOnlyWhenItIsOurs) {
  const Settings second = drained({"", "default", 1, "d", "/run/x", false, "/var/db"});
  EXPECT_EQ(second.database.embedded, "");
  EXPECT_EQ(second.database.socket, "/var/db/data/sock");
  EXPECT_EQ(second.database.user, "root");
  const Settings own = drained({"", "default", 1, "d", "/run/x", true, "/var/db"});
  EXPECT_EQ(own.database.embedded, "/var/db");
}

TEST_F(DrainTest, ForeignFileIsRefused) {
  LoadOptions all = options();
  for (const char* text : {"", "queue=x\n", "queue=x\njobs=many\ninstance=d\n"}) {
    all.file = write(kDrainFile, text);
    EXPECT_THROW((void)load(all), Error) << text;
  }
  EXPECT_THROW((void)drain_text({"", "a\nb", 1, "d", "/x", false, ""}), Error);
}

}  // namespace
}  // namespace allot::config

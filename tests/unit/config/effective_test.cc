// SPDX-License-Identifier: Apache-2.0
#include "config/effective.h"

#include <cstdlib>
#include <map>

#include "config/rows.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

class EffectiveTest : public ConfigTest {
 protected:
  static std::map<std::string, Effective> by_path(const Settings& settings) {
    std::map<std::string, Effective> all;
    for (const Effective& entry : effective(settings)) {
      EXPECT_TRUE(all.emplace(entry.section + "." + entry.key, entry).second) << entry.key;
    }
    return all;
  }
  static std::string shown(const Settings& settings, const std::string& path) {
    const auto all = by_path(settings);
    const auto entry = all.find(path);
    if (entry == all.end()) return "not shown";
    return entry->second.value + " " + std::to_string(entry->second.line) + " " +
           entry->second.origin;
  }
};

TEST_F(EffectiveTest, DefaultsComeFromNowhere) {
  const Settings settings = load(options());
  EXPECT_EQ(shown(settings, "database.host"), "\"127.0.0.1\" 0 ");
  EXPECT_EQ(shown(settings, "database.hosts"), "[] 0 ");
  EXPECT_EQ(shown(settings, "database.password"), "\"\" 0 ");
  EXPECT_EQ(shown(settings, "queues.default.partitions"), "16 0 ");
  EXPECT_EQ(shown(settings, "logging.level"), "\"info\" 0 ");
  EXPECT_EQ(shown(settings, "daemon.lease_ttl"), "\"30s\" 0 ");
}

TEST_F(EffectiveTest, ComputedValueNamesItsSource) {
  const Settings settings = load_text("[queues.a]\n[queues.b]\n[pools.p]\n");
  EXPECT_EQ(shown(settings, "pools.p.queues"), R"(["a", "b"] 0 every queue)");
  EXPECT_EQ(shown(settings, "daemon.frozen_after"), "\"20s\" 0 lease_ttl");
  EXPECT_EQ(shown(settings, "plugins.folder"),
            "\"" + settings.plugins.folder + "\" 0 the installation");
  ::setenv("RUNTIME_DIRECTORY", "/run/x", 1);
  EXPECT_EQ(shown(settings, "daemon.runtime_dir"), "\"/run/x\" 0 $RUNTIME_DIRECTORY");
  ::unsetenv("RUNTIME_DIRECTORY");
}

TEST_F(EffectiveTest, FileValueHasItsLine) {
  const Settings settings = load_text(
      "[database]\nhosts = [\"a\", \"b:1\"]\n\n[queues.m]\nexclusive = true\nretry_delay = "
      "\"90s\"\n"
      "[daemon]\nruntime_dir = \"run\"\nfrozen_after = \"2s\"\n"
      "[pools.p]\nqueues = [\"m\"]\n[plugins.x]\ntext = \"a \\\"b\\\"\\n\"\ndepth = 3\n");
  EXPECT_EQ(shown(settings, "database.hosts"), R"(["a", "b:1"] 2 )");
  EXPECT_EQ(shown(settings, "database.host"), "not shown");
  EXPECT_EQ(shown(settings, "database.port"), "3306 0 ");
  EXPECT_EQ(shown(settings, "queues.m.exclusive"), "true 5 ");
  EXPECT_EQ(shown(settings, "queues.m.retry_delay"), "\"90s\" 6 ");
  EXPECT_EQ(shown(settings, "daemon.runtime_dir"), "\"" + folder() + "/run\" 8 ");
  EXPECT_EQ(shown(settings, "daemon.frozen_after"), "\"2s\" 9 ");
  EXPECT_EQ(shown(settings, "pools.p.queues"), R"(["m"] 11 )");
  EXPECT_EQ(shown(settings, "plugins.x.text"), R"("a \"b\"\u000a" 13 )");
  EXPECT_EQ(shown(settings, "plugins.x.depth"), "\"3\" 14 ");
}

TEST_F(EffectiveTest, WeightsAreShownAsAFileHasThem) {
  const std::string file = "[queues.a]\n[queues.\"b.c\"]\n[pools.p]\nweights = { ";
  const Settings settings = load_text(file + "\"b.c\" = 3, a = 2 }\n");
  EXPECT_EQ(shown(settings, "pools.p.weights"), R"({ "a" = 2, "b.c" = 3 } 4 )");
  EXPECT_EQ(shown(load_text("[pools.p]\n"), "pools.p.weights"), "{} 0 ");
}

TEST_F(EffectiveTest, SecretsAreMasked) {
  const std::string secret = write("secret", "hush");
  for (const Settings& settings :
       {load_text("[database]\npassword = \"hush\"\n[plugins.x]\nApi_Key = \"hush\"\n"
                  "smtp-password = \"hush\"\ntokens = \"hush\"\n"),
        load_text("[database]\npassword_file = \"secret\"\n")}) {
    for (const Effective& entry : effective(settings)) {
      EXPECT_EQ(entry.value.find("hush"), std::string::npos) << entry.key;
    }
  }
  const Settings gateway = load_text(
      "[gateway.database]\nuser = \"g\"\npassword = \"hush\"\n"
      "[gateway.tokens.x]\nread = [\"*\"]\nsha256 = \"" +
      std::string(64, '7') + "\"\n");
  EXPECT_EQ(shown(gateway, "gateway.database.password"), "\"***\" 3 ");
  EXPECT_EQ(shown(gateway, "gateway.tokens.x.sha256"), "\"***\" 6 ");
  EXPECT_EQ(shown(gateway, "gateway.tokens.x.read"), "[\"*\"] 5 ");
  EXPECT_EQ(shown(load_text("[database]\npassword = \"hush\"\n"), "database.password"),
            "\"***\" 2 ");
  const Settings from_file = load_text("[database]\npassword_file = \"secret\"\n");
  EXPECT_EQ(shown(from_file, "database.password"), "not shown");
  EXPECT_EQ(shown(from_file, "database.password_file"), "\"" + secret + "\" 2 ");
}

TEST_F(EffectiveTest, UnusedKeyIsNotShown) {
  const Settings local = load_text("[database]\nsocket = \"s\"\nhost = \"h\"\n");
  EXPECT_EQ(shown(local, "database.host"), "not shown");
  EXPECT_EQ(shown(local, "database.tls_ca"), "not shown");
  LoadOptions embedded = options();
  embedded.embedded = "/x";
  const Settings own = load(embedded);
  EXPECT_EQ(shown(own, "database.embedded"), "\"/x\" 0 --embedded");
  EXPECT_EQ(shown(own, "database.user"), "\"root\" 0 the embedded database");
  EXPECT_EQ(shown(own, "database.password"), "not shown");
  EXPECT_EQ(shown(own, "daemon.runtime_dir"), "\"/x/run\" 0 the embedded database");
}

TEST_F(EffectiveTest, EveryOtherRowIsShown) {
  static_cast<void>(write("ca", "x"));
  const auto all = by_path(load_text(
      "[database]\ntls = \"verify\"\ntls_ca = \"ca\"\n[types.default]\n[schedules.default]\n"
      "expression = \"@daily\"\nqueue = \"default\"\ntype = \"t\"\n[gateway]\n"
      "[gateway.database]\nuser = \"g\"\n[gateway.users.default]\nread = [\"*\"]\n"
      "[gateway.fireworq]\n[gateway.tokens.default]\nsubmit = [\"mail\"]\nsha256 = \"" +
      std::string(64, 'A') + "\"\n"));
  for (const Row& row : rows()) {
    std::string section(row.header);
    section = section.substr(1, section.size() - 2);
    const std::size_t name = section.find("NAME");
    if (name != std::string::npos) section.replace(name, 4, "default");
    EXPECT_EQ(all.count(section + "." + std::string(row.key)), 1U) << row.key;
  }
}

}  // namespace
}  // namespace allot::config

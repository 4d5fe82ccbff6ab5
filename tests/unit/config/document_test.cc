// SPDX-License-Identifier: Apache-2.0
#include "config/document.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "config/rows.h"
#include "unit/config/fixture.h"

namespace allot::config {
namespace {

using Document = ConfigTest;

constexpr const char* kHowToRenew =
    "is stale: run  cmake --build build/dev --target config-doc  and commit the change";

std::string file(const std::string& path) {
  std::ifstream in(std::string(ALLOT_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(in) << path << " is missing";
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The example file with every key enabled.
std::string uncommented(const std::string& example) {
  std::istringstream in(example);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool is_key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out += (is_key ? line.substr(1) : line) + '\n';
  }
  return out;
}

TEST_F(Document, ExampleIsFresh) {
  EXPECT_TRUE(file("etc/allot.toml") == example_file()) << "etc/allot.toml " << kHowToRenew;
}

TEST_F(Document, PageIsFresh) {
  const std::string page = file("docs/configuration.md");
  EXPECT_TRUE(page == renewed_page(page)) << "docs/configuration.md " << kHowToRenew;
}

TEST_F(Document, EveryRowIsInBoth) {
  const std::string example = example_file();
  const std::string page = renewed_page(file("docs/configuration.md"));
  ASSERT_GT(rows().size(), 25U);
  for (const Row& row : rows()) {
    EXPECT_NE(example.find("\n#" + std::string(row.key) + " = "), std::string::npos) << row.key;
    EXPECT_NE(page.find("| `" + std::string(row.key) + "` |"), std::string::npos) << row.key;
    EXPECT_FALSE(row.sentence.empty()) << row.key;
    EXPECT_EQ(row.sentence.back(), '.') << row.key;
  }
}

TEST_F(Document, ExampleAsItIsChangesNothing) {
  const Settings settings = load_text(example_file());
  ASSERT_EQ(settings.queues.size(), 1U);
  EXPECT_EQ(settings.queues[0].name, "default");
  EXPECT_TRUE(settings.plugins.sections.empty());
}

TEST_F(Document, ExampleSwitchedOnHasTheDefaults) {
  const Settings bare = load(options());
  const Schedule needed = {.name = "NAME", .expression = "@daily", .queue = "default", .type = "t"};
  std::string text = uncommented(example_file());
  for (const auto& [key, value] : {std::pair{"expression", needed.expression},
                                   {"queue", needed.queue},
                                   {"type", needed.type}}) {
    const std::string empty = "\n" + std::string(key) + " = \"\"";
    text.replace(text.find(empty) + empty.size() - 1, 0, value);
  }
  const std::string hash(64, 'a');
  text.replace(text.find("sha256 = \"") + 10, 0, hash);
  for (std::size_t at = 0; (at = text.find("\nread = []", at)) != text.npos;) {
    text.replace(at, 10, "\nread = [\"*\"]");
  }
  const Settings full = load_text(text);
  // Plus two of the plugin, and the keys of [gateway.database].
  EXPECT_EQ(full.lines.size(), rows().size() + 15 + 2 + 3);
#define ALLOT_SAME(key, kind, initial, min, max, unit, sentence) EXPECT_EQ(a.key, b.key) << #key;
  {
    const Database &a = bare.database, &b = full.database;
#define ALLOT_DATABASE ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Daemon &a = bare.daemon, &b = full.daemon;
#define ALLOT_DAEMON ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Queue &a = bare.queues.at(0), &b = full.queues.at(0);
#define ALLOT_QUEUE ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Type a, &b = full.types.at(0);
#define ALLOT_TYPE ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Pool &a = bare.pools.at(0), &b = full.pools.at(0);
#define ALLOT_POOL ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Schedule &a = needed, &b = full.schedules.at(0);
#define ALLOT_SCHEDULE ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Plugins &a = bare.plugins, &b = full.plugins;
#define ALLOT_PLUGINS ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Wake &a = bare.wake, &b = full.wake;
#define ALLOT_WAKE ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Notices &a = bare.notices, &b = full.notices;
#define ALLOT_NOTICES ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Metrics &a = bare.metrics, &b = full.metrics;
#define ALLOT_METRICS ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Gateway a, &b = full.gateway.value();
#define ALLOT_GATEWAY ALLOT_SAME
#include "config/settings.def"
  }
  {
    const GatewayFireworq a, &b = full.gateway->fireworq.value();
#define ALLOT_GATEWAY_FIREWORQ ALLOT_SAME
#include "config/settings.def"
  }
  {
    const GatewayToken a{.name = "NAME", .sha256 = hash, .read = {"*"}},
        &b = full.gateway->tokens.at(0);
#define ALLOT_GATEWAY_TOKEN ALLOT_SAME
#include "config/settings.def"
  }
  {
    const GatewayUser a{.name = "NAME", .read = {"*"}}, &b = full.gateway->users.at(0);
#define ALLOT_GATEWAY_USER ALLOT_SAME
#include "config/settings.def"
  }
  {
    const Logging &a = bare.logging, &b = full.logging;
#define ALLOT_LOGGING ALLOT_SAME
#include "config/settings.def"
  }
#undef ALLOT_SAME
}

}  // namespace
}  // namespace allot::config

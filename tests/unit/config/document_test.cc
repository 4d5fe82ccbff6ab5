// SPDX-License-Identifier: Apache-2.0
#include "config/document.h"

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

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

// The values of the keys, as in a file.
template <typename Keys>
std::map<std::string, std::string> values_of(const Keys& section) {
  std::map<std::string, std::string> values;
  Keys::each_key(section, [&](const Key& key, const auto& value, auto...) {
    values[key.name] = written(key.kind, value);
  });
  return values;
}

template <typename Keys>
void expect_same(const Keys& a, const Keys& b) {
  EXPECT_EQ(values_of(a), values_of(b)) << Keys::kHeader;
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
  const Gateway& gateway = full.gateway.value();
  expect_same(bare.database, full.database);
  expect_same(bare.daemon, full.daemon);
  expect_same(bare.queues.at(0), full.queues.at(0));
  expect_same(Type(), full.types.at(0));
  expect_same(bare.pools.at(0), full.pools.at(0));
  expect_same(needed, full.schedules.at(0));
  expect_same(bare.plugins, full.plugins);
  expect_same(bare.wake, full.wake);
  expect_same(bare.notices, full.notices);
  expect_same(bare.metrics, full.metrics);
  expect_same(Gateway(), gateway);
  expect_same(GatewayFireworq(), gateway.fireworq.value());
  expect_same(GatewayToken{.name = "NAME", .sha256 = hash, .read = {"*"}}, gateway.tokens.at(0));
  expect_same(GatewayUser{.name = "NAME", .read = {"*"}}, gateway.users.at(0));
  expect_same(bare.logging, full.logging);
}

}  // namespace
}  // namespace allot::config

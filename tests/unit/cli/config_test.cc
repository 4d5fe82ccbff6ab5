// SPDX-License-Identifier: Apache-2.0
// allot config
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/exit_codes.h"
#include "support/process.h"

namespace allot::cli {
namespace {

using nlohmann::json;

support::Finished config(const std::string& file, std::vector<std::string> more = {},
                         const support::ProcessOptions& options = {}) {
  std::vector<std::string> words{ALLOT_PROGRAM, "config"};
  if (!file.empty()) words.insert(words.end(), {"--config", file});
  words.insert(words.end(), more.begin(), more.end());
  return support::run_program(std::move(words), options);
}

json setting(const json& shown, const std::string& section, const std::string& key) {
  for (const json& entry : shown.at("settings")) {
    if (entry.at("section") == section && entry.at("key") == key) return entry;
  }
  return nullptr;
}

constexpr const char* kFile =
    "[database]\nsocket = \"s\"\nuser = \"me\"\n[queues.\"mail.eu\"]\npartitions = 3\n"
    "[daemon]\nruntime_dir = \"run\"\n[plugins.x]\ntext = \"a \\u001b[1m\\n\\\"b\\\"\"\n";

TEST(ConfigCommand, ItsTextIsAConfigurationOfTheSameMeaning) {
  const support::TempDir folder;
  const auto first = config(folder.write("first.toml", kFile));
  ASSERT_EQ(first.status.code, kExitOk) << first.err;
  EXPECT_NE(first.out.find("[queues.\"mail.eu\"]\npartitions = 3"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("# " + (folder / "first.toml") + ":5\n"), std::string::npos)
      << first.out;
  EXPECT_EQ(first.out.find('\x1b'), std::string::npos);
  const std::string again = folder.write("again.toml", first.out);
  const auto values = [](const support::Finished& done) {
    json all = json::parse(done.out).at("settings");
    for (json& entry : all) {
      entry.erase("from");
      entry.erase("line");
    }
    return all;
  };
  EXPECT_EQ(values(config(again, {"--json"})), values(config(folder / "first.toml", {"--json"})));
}

TEST(ConfigCommand, JsonSaysWhereEachValueCameFrom) {
  const support::TempDir folder;
  const std::string file = folder.write("allot.toml", kFile);
  const json shown =
      json::parse(config("", {"--json"}, {.environment = {"ALLOT_CONFIG=" + file}}).out);
  EXPECT_EQ(shown.at("file"), file);
  EXPECT_EQ(shown.at("file_named_by"), "$ALLOT_CONFIG");
  EXPECT_EQ(setting(shown, "database", "user"), (json{{"section", "database"},
                                                      {"key", "user"},
                                                      {"value", "me"},
                                                      {"from", file + ":3"},
                                                      {"line", 3}}));
  EXPECT_EQ(setting(shown, "daemon", "lease_ttl"), (json{{"section", "daemon"},
                                                         {"key", "lease_ttl"},
                                                         {"value", "30s"},
                                                         {"from", "default"},
                                                         {"line", nullptr}}));
  EXPECT_EQ(setting(shown, "queues.mail.eu", "partitions").at("value"), 3);
  EXPECT_EQ(setting(shown, "queues.mail.eu", "exclusive").at("value"), false);
  EXPECT_EQ(setting(shown, "plugins.x", "text").at("value"), "a \x1b[1m\n\"b\"");
  EXPECT_TRUE(shown.at("warnings").empty());
  EXPECT_EQ(json::parse(config(file, {"--json"}).out).at("file_named_by"), "--config");
}

TEST(ConfigCommand, WarningsAndMistakesAreDistinguished) {
  const support::TempDir folder;
  const std::string text = "[database]\nsocket = \"s\"\ntls = \"required\"\n";
  const std::string file = folder.write("allot.toml", text);
  const auto warned = config(file);
  EXPECT_EQ(warned.status.code, kExitOk);
  EXPECT_EQ(warned.err.rfind("allot: " + file + ":3: ", 0), 0U) << warned.err;
  EXPECT_EQ(json::parse(config(file, {"--json"}).out).at("warnings").size(), 1U);
  const auto wrong = config(folder.write("wrong.toml", text + "ssl = true\n"), {"--json"});
  EXPECT_EQ(wrong.status.code, kExitConfig);
  EXPECT_EQ(wrong.out, "");
}

}  // namespace
}  // namespace allot::cli

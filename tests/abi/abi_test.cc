// SPDX-License-Identifier: Apache-2.0
// Plugins that were built without any flag of ours, in one process.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "abi/c_host.h"
#include "abi/layout.h"
#include "base/clock.h"
#include "plugin_host/abi_check.h"
#include "plugin_host/handler_call.h"
#include "plugin_host/plugin_library.h"
#include "plugin_host/registry.h"
#include "support/temp_dir.h"

namespace allot::plugin_host {
namespace {

using Types = std::vector<std::string>;

std::string plain(const std::string& file) {
  return ALLOT_PLAIN_PLUGINS "/" + file;
}

const allot_plugin* open_good(const std::string& file) {
  const auto opened = open_plugin(plain(file));
  if (const auto* finding = std::get_if<Finding>(&opened)) {
    ADD_FAILURE() << file << ": " << finding->text;
    return nullptr;
  }
  return std::get<const allot_plugin*>(opened);
}

// The symbols that the dynamic linker joins across a process, whatever RTLD_LOCAL says.
Types unique_symbols(const std::string& path) {
  const std::string file = support::read_file(path);
  const auto at = [&file](std::size_t offset, auto record) {
    std::memcpy(&record, file.data() + offset, sizeof record);
    return record;
  };
  Types found;
  const auto header = at(0, Elf64_Ehdr{});
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = at(header.e_shoff + i * header.e_shentsize, Elf64_Shdr{});
    if (section.sh_type != SHT_DYNSYM) continue;
    const auto names =
        at(header.e_shoff + std::size_t{section.sh_link} * header.e_shentsize, Elf64_Shdr{});
    for (std::size_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at(section.sh_offset + offset, Elf64_Sym{});
      if (ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE) continue;
      found.emplace_back(file.data() + names.sh_offset + symbol.st_name);
    }
  }
  return found;
}

// S29
TEST(PlainPlugins, EachOffersItsOwnHandlersOnly) {
  const auto files = describe(ALLOT_PLAIN_PLUGINS);
  ASSERT_EQ(files.size(), 3U);
  for (const PluginFile& file : files) EXPECT_FALSE(file.refused) << refusal_line(file);
  EXPECT_EQ(files[0].types, (Types{"plain.first", "plain.first_again"}));
  EXPECT_EQ(files[0].name, "first");
  EXPECT_EQ(files[1].types, (Types{"plain.time_left", "plain.second"}));
  EXPECT_EQ(files[1].name, "second");
  EXPECT_EQ(files[2].types, (Types{"test.c"}));
}

// S29. The test above could be saved by the order in which files are opened; this one not.
TEST(PlainPlugins, TheSdkHasNoSymbolThatIsUniqueInAProcess) {
  for (const char* file : {"first.so", "second.so"}) {
    for (const std::string& symbol : unique_symbols(plain(file))) {
      EXPECT_EQ(symbol.find("allot"), std::string::npos) << file << ": " << symbol;
    }
  }
  // The search itself works: this one is left visible on purpose.
  EXPECT_EQ(unique_symbols(ALLOT_UNIQUE_LIBRARY), Types{"allot_test_unique"});
}

class PlainCall : public testing::Test {
 protected:
  std::string reason(const char* type, Nanos soft_deadline_ns = 0) {
    const LoadedHandler* handler = registry_.find(type);
    if (handler == nullptr) return "no handler";
    return call(*handler, {"", "", type, "", 1, 1, soft_deadline_ns}, hooks_).reason;
  }
  Registry registry_ = Registry::load(ALLOT_PLAIN_PLUGINS, {{"first", {{"word", "one"}}}});

 private:
  HostHooks hooks_;
};

TEST_F(PlainCall, RunsTheClassOfItsOwnPlugin) {
  EXPECT_EQ(reason("plain.first"), "first one");
  EXPECT_EQ(reason("plain.first_again"), "first one");
  EXPECT_EQ(reason("plain.second"), "second");
  EXPECT_EQ(registry_.size(), 5U);
}

TEST_F(PlainCall, TimeLeftIsThatToTheSoftDeadline) {
  constexpr long kHour = 3600;
  const long left = std::stol(reason("plain.time_left", boot_ns() + kHour * kSecond));
  EXPECT_LT(left, kHour);
  EXPECT_GT(left, kHour - 60);
  EXPECT_EQ(reason("plain.time_left", 1), "0");
  EXPECT_EQ(std::stol(reason("plain.time_left", 0)),
            std::numeric_limits<std::int64_t>::max() / 1'000'000'000);
}

// A constant of the class, in any unit.
TEST(PlainPlugins, APromiseOfProgressIsInTheDescription) {
  const allot_plugin* plugin = open_good("second.so");
  ASSERT_NE(plugin, nullptr);
  ASSERT_EQ(plugin->handler_count, 2U);
  EXPECT_EQ(progress_every(*plugin->handlers[0]), std::chrono::minutes(2));
  EXPECT_EQ(progress_every(*plugin->handlers[1]), std::chrono::minutes(0)) << "promises nothing";
}

// As it says itself; a class that does not say so has no function for it either.
TEST(PlainPlugins, HowManyAHandlerTakesIsInTheDescription) {
  const allot_plugin* plugin = open_good("first.so");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->handlers[0]->max_batch, 1U);
  EXPECT_EQ(plugin->handlers[0]->run_many, nullptr);
  plugin = open_good("second.so");
  ASSERT_NE(plugin, nullptr);
  ASSERT_EQ(plugin->handler_count, 2U);
  EXPECT_EQ(max_batch(*plugin->handlers[1]), 20U);
}

TEST(CHost, RunsAPluginOfTheSdk) {
  const allot_plugin* plugin = open_good("first.so");
  ASSERT_NE(plugin, nullptr);
  c_host_result result{};
  ASSERT_EQ(c_host_run(plugin, 0, "hello", &result), 1);
  EXPECT_EQ(result.kind, ALLOT_RETRY);
  EXPECT_EQ(result.delay_ms, 2000);
  EXPECT_STREQ(result.reason, "first from C");
  EXPECT_STREQ(result.log, "first says hello");
  EXPECT_EQ(result.beats, 1);
}

TEST(CHost, RunsAPluginInC) {
  const allot_plugin* plugin = open_good("v1.so");
  ASSERT_NE(plugin, nullptr);
  c_host_result result{};
  ASSERT_EQ(c_host_run(plugin, 0, "count", &result), 1);
  EXPECT_EQ(result.kind, ALLOT_FAIL);
  EXPECT_STREQ(result.reason, "run 1 of attempt 3");
}

// F1: it was compiled with the header of version 1, kept in v1/.
TEST(Frozen, APluginOfTheFirstVersionLoadsAndRuns) {
  const allot_plugin* plugin = open_good("v1.so");
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->abi_version, 1U);
  EXPECT_EQ(max_batch(*plugin->handlers[0]), 4U);
}

// Compiled with a header of a made-up next version.
TEST(Next, APluginOfANewerVersionIsRefusedWithTheReason) {
  const auto opened = open_plugin(plain("next/c.so"));
  const auto* finding = std::get_if<Finding>(&opened);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->refusal, Refusal::kTooNew);
  EXPECT_EQ(finding->text, "compiled for plugin ABI " + std::to_string(ALLOT_ABI_VERSION + 1) +
                               ", this daemon knows up to " + std::to_string(ALLOT_ABI_VERSION) +
                               "; upgrade Allot, or compile the plugin with its headers");
}

}  // namespace
}  // namespace allot::plugin_host

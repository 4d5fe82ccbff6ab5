// SPDX-License-Identifier: Apache-2.0
// A host that was compiled with a header of a made-up next version, in which every struct that may
// grow has a field more.
#include <gtest/gtest.h>

#include <filesystem>

#include "abi/c_host.h"
#include "abi/layout.h"
#include "plugin_host/handler_call.h"
#include "plugin_host/plugin_library.h"
#include "plugin_host/registry.h"
#include "support/temp_dir.h"

namespace allot::plugin_host {
namespace {

static_assert(offsetof(allot_handler, made_up) >= 112, "this is the header of the next version");

// With one plugin of another test.
class NextHost : public testing::Test {
 protected:
  Registry load(const std::string& file) {
    std::filesystem::copy_file(ALLOT_PLAIN_PLUGINS "/" + file, folder_ / "plugin.so");
    return Registry::load(folder_.path(), {});
  }
  static CallInput input(std::string_view payload) {
    return {"id-7", "mail", "test.c", payload, 3, 5, 0};
  }
  HostHooks hooks_;

 private:
  support::TempDir folder_;
};

// Plugins of the first version, and of today's version, which precedes the next one.
class EarlierPlugin : public NextHost, public testing::WithParamInterface<const char*> {};

TEST_P(EarlierPlugin, Runs) {
  const Registry registry = load(GetParam());
  const LoadedHandler* handler = registry.find("test.c");
  ASSERT_NE(handler, nullptr);
  EXPECT_LT(handler->handler->struct_size, sizeof(allot_handler));
  const CallResult result = call(*handler, input("count"), hooks_);
  EXPECT_EQ(result.kind, OutcomeKind::kFail);
  EXPECT_EQ(result.reason, "run 1 of attempt 3");
}

TEST_P(EarlierPlugin, RunsSeveralInACall) {
  const Registry registry = load(GetParam());
  const LoadedHandler* handler = registry.find("test.c");
  ASSERT_NE(handler, nullptr);
  const std::vector inputs{input("count"), input("fine")};
  HostHooks other;
  const std::vector<HostHooks*> hooks{&hooks_, &other};
  const ManyResult result = call_many(*handler, inputs, hooks);
  ASSERT_EQ(result.each.size(), 2U) << result.error;
  EXPECT_EQ(result.each[0].reason, "run 1 of attempt 3");
  EXPECT_EQ(result.each[1].kind, OutcomeKind::kSuccess);
}

// Structs that it passes to the host have the size of its version, which is large enough.
TEST_P(EarlierPlugin, CallsTheHost) {
  const Registry registry = load(GetParam());
  const LoadedHandler* handler = registry.find("test.c");
  ASSERT_NE(handler, nullptr);
  EXPECT_EQ(call(*handler, input("submit"), hooks_).reason, "this call is not available here");
}

// And the same plugin in a host that is not ours.
TEST_P(EarlierPlugin, RunsInAHostInC) {
  const auto opened = open_plugin(ALLOT_PLAIN_PLUGINS "/" + std::string(GetParam()));
  ASSERT_TRUE(std::holds_alternative<const allot_plugin*>(opened));
  c_host_result result{};
  ASSERT_EQ(c_host_run(std::get<const allot_plugin*>(opened), 0, "count", &result), 1);
  EXPECT_EQ(result.kind, ALLOT_FAIL);
}

INSTANTIATE_TEST_SUITE_P(Of, EarlierPlugin, testing::Values("v1.so", "today/c.so"),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

TEST_F(NextHost, RunsAPluginOfTodaysSdk) {
  const Registry registry = load("first.so");
  const LoadedHandler* handler = registry.find("plain.first");
  ASSERT_NE(handler, nullptr);
  const CallResult result = call(*handler, input("payload"), hooks_);
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_EQ(result.reason, "first ");
}

TEST_F(NextHost, APluginOfItsOwnVersionRuns) {
  const Registry registry = load("next/c.so");
  const LoadedHandler* handler = registry.find("test.c");
  ASSERT_NE(handler, nullptr);
  EXPECT_EQ(handler->handler->struct_size, sizeof(allot_handler));
  EXPECT_EQ(call(*handler, input("count"), hooks_).reason, "run 1 of attempt 3");
}

}  // namespace
}  // namespace allot::plugin_host

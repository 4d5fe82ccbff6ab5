// SPDX-License-Identifier: Apache-2.0
// The first plugin of each document, built as documented.
#include "support/document.h"

#include <gtest/gtest.h>

#include "plugin_host/handler_call.h"
#include "support/process.h"
#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

class Listener : public HostHooks {
 public:
  void log(int /*level*/, std::string_view text) noexcept override { said = text; }
  std::string said;
};

class DocumentTest : public testing::TestWithParam<const char*> {};

TEST_P(DocumentTest, ItsFirstPluginBuildsAndRuns) {
  const support::TempDir folder;
  const std::string example =
      support::first_example(std::string(ALLOT_SOURCE_DIR) + "/" + GetParam(), "cpp");
  ASSERT_NE(example, "");
  const std::string include = "-I" + std::string(ALLOT_SOURCE_DIR) + "/plugin-api/include";
  const auto built = support::run_program(
      {ALLOT_CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", include,
       folder.write("hello.cc", example), "-o", folder / "hello.so"});
  ASSERT_EQ(built.status, (support::ExitStatus{0, 0})) << built.err;

  const Registry registry = Registry::load(folder.path(), {{"hello", {{"greeting", "good day"}}}});
  const LoadedHandler* hello = registry.find("hello");
  ASSERT_NE(hello, nullptr);
  Listener listener;
  EXPECT_EQ(call(*hello, {"1", "q", "hello", "world"}, listener).kind, OutcomeKind::kSuccess);
  EXPECT_EQ(listener.said, "good day, world");
  const auto empty = call(*hello, {"1", "q", "hello", ""}, listener);
  EXPECT_EQ(empty.kind, OutcomeKind::kFail);
  EXPECT_EQ(empty.reason, "no name to greet");
}

INSTANTIATE_TEST_SUITE_P(Documents, DocumentTest,
                         testing::Values("docs/first-steps.md", "docs/plugins.md"));

TEST(Document, EveryRefusalHasItsRow) {
  const std::string text = support::read_file(ALLOT_SOURCE_DIR "/docs/plugins.md");
  for (int i = 0; i <= static_cast<int>(kLastRefusal); ++i) {
    const std::string row = std::string("\n| ") + name_of(static_cast<Refusal>(i)) + " | ";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace allot::plugin_host

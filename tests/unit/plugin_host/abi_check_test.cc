// SPDX-License-Identifier: Apache-2.0
// Rule: S79.
#include "plugin_host/abi_check.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace allot::plugin_host {
namespace {

allot_str text(std::string_view from) {
  return {from.data(), from.size()};
}

void run(void* /*self*/, const allot_task* /*task*/, const allot_host* /*host*/,
         allot_outcome* /*outcome*/) {
  ADD_FAILURE() << "a check called run";
}

std::int32_t create(const allot_pair* /*config*/, size_t /*count*/, void** /*self*/,
                    allot_text* /*error*/) {
  ADD_FAILURE() << "a check called create";
  return 0;
}

std::int32_t types(const allot_pair* /*config*/, size_t /*count*/, allot_offer_function /*offer*/,
                   void* /*context*/, allot_text* /*error*/) {
  ADD_FAILURE() << "a check of the description called types";
  return 0;
}

// A valid description of two handlers; each test breaks one thing.
class AbiCheckTest : public testing::Test {
 protected:
  [[nodiscard]] std::optional<Refusal> check() const {
    const auto finding = check_abi(&plugin_);
    if (!finding) return std::nullopt;
    EXPECT_FALSE(finding->text.empty());
    return finding->refusal;
  }

  std::array<allot_handler, 2> handlers_{
      allot_handler{sizeof(allot_handler), text("a"), text(""), &create, &run, nullptr, nullptr, 0,
                    0, 0, nullptr, nullptr},
      allot_handler{sizeof(allot_handler), text("b"), text(""), nullptr, &run, nullptr, nullptr, 0,
                    0, 0, nullptr, nullptr}};
  std::array<const allot_handler*, 2> list_{handlers_.data(), &handlers_[1]};
  allot_plugin plugin_{ALLOT_PLUGIN_MAGIC, ALLOT_ABI_VERSION, sizeof(allot_plugin), text("name"),
                       text("1.0"),        list_.data(),      list_.size()};
};

TEST_F(AbiCheckTest, AGoodDescriptionIsTaken) {
  EXPECT_EQ(check(), std::nullopt);
}

TEST_F(AbiCheckTest, NameAndVersionMayBeEmpty) {
  plugin_.name = {nullptr, 0};
  plugin_.version = {nullptr, 0};
  EXPECT_EQ(check(), std::nullopt);
}

TEST_F(AbiCheckTest, NullIsNotADescription) {
  EXPECT_EQ(check_abi(nullptr)->refusal, Refusal::kNoDescription);
}

TEST_F(AbiCheckTest, TheMagicIsLookedAtFirst) {
  plugin_ = {};
  EXPECT_EQ(check(), Refusal::kWrongMagic);
}

TEST_F(AbiCheckTest, APluginFromBeforeTheFirstReleaseGetsOneLine) {
  plugin_.magic = 0x544c4c41;
  for (const std::uint32_t version : {1U, 6U}) {  // its numbers and sizes are meaningless
    plugin_.abi_version = version;
    plugin_.struct_size = 0;
    const auto finding = check_abi(&plugin_);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->refusal, Refusal::kPreRelease);
    EXPECT_EQ(finding->text,
              "built for a pre-release Allot; rebuild it with the installed headers");
  }
}

TEST_F(AbiCheckTest, AVersionThatIsNewerIsNamed) {
  plugin_.abi_version = ALLOT_ABI_VERSION + 1;
  const auto finding = check_abi(&plugin_);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->refusal, Refusal::kTooNew);
  EXPECT_NE(finding->text.find("ABI " + std::to_string(ALLOT_ABI_VERSION + 1)), std::string::npos)
      << finding->text;
  plugin_.abi_version = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(check(), Refusal::kTooNew);
}

TEST_F(AbiCheckTest, VersionZeroIsNone) {
  plugin_.abi_version = 0;
  EXPECT_EQ(check(), Refusal::kNoVersion);
}

TEST_F(AbiCheckTest, APromiseOfProgressIsReadWhereThereIsOne) {
  using std::chrono::milliseconds;
  allot_handler& handler = handlers_[0];
  EXPECT_EQ(progress_every(handler), milliseconds(0));
  handler.progress_every_ms = 30'000;
  EXPECT_EQ(progress_every(handler), milliseconds(30'000));
  handler.progress_every_ms = 1;
  EXPECT_EQ(progress_every(handler), milliseconds(1'000)) << "no shorter than it can be judged by";
  handler.progress_every_ms = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(progress_every(handler), std::chrono::hours(24 * 365)) << "no overflow further on";
}

std::int32_t run_many(void* /*self*/, const allot_task* const* /*tasks*/,
                      const allot_host* const* /*hosts*/, size_t /*count*/,
                      allot_outcome* const* /*outcomes*/, allot_text* /*error*/) {
  ADD_FAILURE() << "a check called run_many";
  return 0;
}

TEST_F(AbiCheckTest, OnlyAHandlerThatSaysSoTakesSeveral) {
  allot_handler& handler = handlers_[0];
  EXPECT_EQ(max_batch(handler), 1U);
  handler.max_batch = 50;
  EXPECT_EQ(check(), Refusal::kNoRun) << "by which function?";
  handler.run_many = &run_many;
  EXPECT_EQ(check(), std::nullopt);
  EXPECT_EQ(max_batch(handler), 50U);
}

TEST_F(AbiCheckTest, SizesMayGrowButNotShrink) {
  plugin_.struct_size = sizeof(allot_plugin) + 64;
  handlers_[0].struct_size = sizeof(allot_handler) + 64;
  EXPECT_EQ(check(), std::nullopt);
  handlers_[0].struct_size = offsetof(allot_handler, begin_thread) + sizeof(void*);
  EXPECT_EQ(check(), std::nullopt) << "all that version 1 had";
  --handlers_[0].struct_size;
  EXPECT_EQ(check(), Refusal::kShortHandler);
  plugin_.struct_size = sizeof(allot_plugin) - 1;
  EXPECT_EQ(check(), Refusal::kShortPlugin);
}

TEST_F(AbiCheckTest, ThereIsAHandler) {
  plugin_.handler_count = 0;
  EXPECT_EQ(check(), Refusal::kNoHandlers);
  plugin_.handler_count = 1;
  plugin_.handlers = nullptr;
  EXPECT_EQ(check(), Refusal::kNoHandlers);
}

TEST_F(AbiCheckTest, EachHandlerIsLookedAt) {
  list_[1] = nullptr;
  EXPECT_EQ(check(), Refusal::kShortHandler);
}

TEST_F(AbiCheckTest, AHandlerRuns) {
  handlers_[1].run = nullptr;
  EXPECT_EQ(check(), Refusal::kNoRun);
}

TEST_F(AbiCheckTest, ATypeIsOfferedOnce) {
  handlers_[1].type = text("a");
  EXPECT_EQ(check(), Refusal::kTypeTwice);
  handlers_[1].type = text("A");  // types differ by case
  EXPECT_EQ(check(), std::nullopt);
}

TEST_F(AbiCheckTest, WhereTheConfigurationNamesTheTypesNoneIsNeeded) {
  handlers_[0].type = handlers_[1].type = text("");
  handlers_[0].types = handlers_[1].types = &types;
  EXPECT_EQ(check(), std::nullopt);
  handlers_[1].types = nullptr;
  EXPECT_EQ(check(), Refusal::kBadType);
}

struct Word {
  std::string text;
  bool good;
};

class NameTest : public AbiCheckTest, public testing::WithParamInterface<Word> {};

TEST_P(NameTest, AsType) {
  handlers_[0].type = text(GetParam().text);
  EXPECT_EQ(check(), GetParam().good ? std::nullopt : std::optional(Refusal::kBadType));
}

TEST_P(NameTest, AsName) {
  const bool good = GetParam().good || GetParam().text.empty();
  plugin_.name = text(GetParam().text);
  EXPECT_EQ(check(), good ? std::nullopt : std::optional(Refusal::kBadName));
}

INSTANTIATE_TEST_SUITE_P(Words, NameTest,
                         testing::Values(Word{"mail.send", true}, Word{"A-z_0.9", true},
                                         Word{"-", true}, Word{std::string(63, 'x'), true},
                                         Word{"", false}, Word{"a b", false}, Word{"a/b", false},
                                         Word{"a\n", false}, Word{"\xc3\xa4", false},
                                         Word{std::string("a\0b", 3), false}, Word{"a[", false},
                                         Word{"a@", false}, Word{"a`", false}, Word{"a{", false},
                                         Word{"a:", false}));

TEST_F(AbiCheckTest, ATypeMayBeLongerThanAName) {
  const std::string longest(127, 'x');
  handlers_[0].type = text(longest);
  EXPECT_EQ(check(), std::nullopt);
  const std::string longer(128, 'x');
  handlers_[0].type = text(longer);
  EXPECT_EQ(check(), Refusal::kBadType);
  handlers_[0].type = text("x");
  const std::string name(64, 'x');
  plugin_.name = text(name);
  EXPECT_EQ(check(), Refusal::kBadName);
}

TEST_F(AbiCheckTest, ALongNameIsNotRepeatedInFull) {
  const std::string name(100'000, 'x');
  plugin_.name = text(name);
  EXPECT_LT(check_abi(&plugin_)->text.size(), 300U);
}

TEST(RefusalName, EachHasItsOwn) {
  std::map<std::string, int> names;
  for (int i = 0; i <= static_cast<int>(kLastRefusal); ++i) {
    ++names[name_of(static_cast<Refusal>(i))];
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastRefusal) + 1);
  EXPECT_EQ(names.count("unknown"), 0U);
}

}  // namespace
}  // namespace allot::plugin_host

// SPDX-License-Identifier: Apache-2.0
// Rule: S79.
#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "queue/model/task.h"

namespace allot::queue {
namespace {

TEST(TaskIdTest, WordAndBack) {
  for (const std::uint32_t queue_id : {0U, 1U, 127U, 128U, 16383U, 16384U, UINT32_MAX}) {
    for (const std::uint32_t partition_no : {0U, 31U, 32U, 4095U, 65535U}) {
      for (std::uint32_t prio = 0; prio < kPrioClasses; ++prio) {
        for (const std::uint64_t key : {UINT64_C(0), UINT64_C(1), UINT64_MAX}) {
          const TaskId id{{queue_id, partition_no}, prio, key};
          const std::string word = id.text();
          EXPECT_LE(word.size(), 40U);
          EXPECT_EQ(TaskId::parse(word), id) << word;
        }
      }
    }
  }
}

TEST(TaskIdTest, RandomOnes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const TaskId id{{static_cast<std::uint32_t>(random()) >> (random() % 32),
                     static_cast<std::uint32_t>(random() & 0xffff) >> (random() % 16)},
                    static_cast<std::uint32_t>(random() % kPrioClasses),
                    random() >> (random() % 64)};
    EXPECT_EQ(TaskId::parse(id.text()), id) << id.text();
  }
}

// Logs print ids and people keep them, so their spelling must not change between releases.
TEST(TaskIdTest, SpellingIsFixed) {
  const TaskId id{{1, 0}, 1, UINT64_C(0x0123456789abcdef)};
  EXPECT_EQ(id.text(), "040g28t5cy4tqkff");
}

TEST(TaskIdTest, IsShortLowerCaseAndHasNoAmbiguousLetter) {
  const TaskId id{{1, 15}, 3, UINT64_MAX};
  EXPECT_LE(id.text().size(), 16U);
  EXPECT_EQ(id.text().find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz"), std::string::npos);
}

TEST(TaskIdTest, InvalidIds) {
  const std::string good = TaskId{{1, 0}, 1, 42}.text();
  ASSERT_TRUE(TaskId::parse(good));
  EXPECT_FALSE(TaskId::parse(""));
  EXPECT_FALSE(TaskId::parse("0"));
  EXPECT_FALSE(TaskId::parse("hello"));
  EXPECT_FALSE(TaskId::parse(good + "0")) << "one spelling only";
  EXPECT_FALSE(TaskId::parse("0" + good));
  EXPECT_FALSE(TaskId::parse(good.substr(1)));
  EXPECT_FALSE(TaskId::parse(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(TaskId::parse(good + " "));
  EXPECT_FALSE(TaskId::parse(std::string(41, '0')));
  EXPECT_FALSE(TaskId::parse(std::string(10'000, 'z')));
  std::string upper = good;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_NE(upper, good);
  EXPECT_EQ(TaskId::parse(upper), TaskId::parse(good)) << "as an operator may type it";
  for (const char c : {'i', 'l', 'o', 'u', '-', '\0', '\xff'}) {
    std::string word = good;
    word[3] = c;
    EXPECT_FALSE(TaskId::parse(word)) << static_cast<int>(c);
  }
}

// Every word of the right alphabet is either the canonical spelling of an id, or refused.
TEST(TaskIdTest, RandomWordsAreRefusedOrCanonical) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  std::mt19937_64 random(11);
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string word;
    const std::size_t size = 12 + random() % 14;
    while (word.size() < size) word += kAlphabet[random() % kAlphabet.size()];
    const auto id = TaskId::parse(word);
    if (!id) continue;
    ++accepted;
    EXPECT_EQ(id->text(), word);
    EXPECT_LT(id->prio, kPrioClasses);
    EXPECT_LE(id->partition.partition_no, 0xffffU);
  }
  EXPECT_GT(accepted, 0) << "the loop tests nothing";
}

TEST(NameTest, NamesOfQueuesAndTypes) {
  for (const char* word : {"a", "A", "0", "mail.send", "under_score", "da-sh", ".", "-"}) {
    EXPECT_TRUE(is_name(word)) << word;
  }
  for (const char* word : {"", " ", "a b", "a/b", "a\n", "\xc3\xa4", "a'b", "a*", ":a", "a\"b"}) {
    EXPECT_FALSE(is_name(word)) << word;
  }
  EXPECT_FALSE(is_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_name(std::string(63, 'x')));
  EXPECT_FALSE(is_name(std::string(64, 'x')));
  EXPECT_TRUE(is_type(std::string(127, 'x')));
  EXPECT_FALSE(is_type(std::string(128, 'x')));
  EXPECT_FALSE(is_type("mail send"));
}

TEST(TaskTest, IdKeyIsTheFirstKeyOnceItMoved) {
  Task task;
  task.key = {1, 100};
  EXPECT_EQ(task.id_key(), 100U);
  task.first_key = 50;
  EXPECT_EQ(task.id_key(), 50U);
}

}  // namespace
}  // namespace allot::queue

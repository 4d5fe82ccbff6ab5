// SPDX-License-Identifier: Apache-2.0
// Checks of the database, and storing of their findings (S90).
#include <algorithm>

#include "db/queue/fixture.h"
#include "queue/findings/checks.h"

namespace allot::queue {
namespace {

class FindingTest : public QueueTest {
 protected:
  Findings all() {
    Findings found;
    for (const Check check : checks_of_each_minute()) {
      for (Finding& finding : check(observer_, Observer{settings_})) found.push_back(finding);
    }
    return found;
  }
  static const Finding* about(const Findings& findings, const std::string& what) {
    const auto at = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& one) { return one.check == what; });
    return at == findings.end() ? nullptr : &*at;
  }

  config::Settings settings_;
};

TEST_F(FindingTest, ACheckSaysWhatIsWellAndWhatIsNot) {
  EXPECT_EQ(about(all(), "lease rows")->level, Level::kOk);
  observer_.execute("DELETE FROM q_lock_table");
  const Findings found = all();
  ASSERT_NE(about(found, "lease rows"), nullptr);
  EXPECT_EQ(about(found, "lease rows")->level, Level::kWarn);
  EXPECT_EQ(about(found, "lease rows")->queue, queue_.name);
}

TEST_F(FindingTest, FindingsAreStoredAndReplaced) {
  EXPECT_FALSE(list_findings(observer_).checked_at);
  store_findings(observer_, {{Level::kOk, "clock", "well"},
                             {Level::kWarn, "durability", "it's \xff off", "turn it on"},
                             {Level::kFail, "lease rows", "missing", "migrate", "mail"}});
  const StoredFindings stored = list_findings(observer_);
  EXPECT_TRUE(stored.checked_at);
  ASSERT_EQ(stored.list.size(), 2U);
  EXPECT_EQ(stored.list[0].check, "durability");
  EXPECT_EQ(stored.list[0].text, "it's \xef\xbf\xbd off");
  EXPECT_EQ(stored.list[0].fix, "turn it on");
  EXPECT_EQ(stored.list[0].level, Level::kWarn);
  EXPECT_EQ(stored.list[0].queue, "");
  EXPECT_EQ(stored.list[1].level, Level::kFail);
  EXPECT_EQ(stored.list[1].queue, "mail");
  store_findings(observer_, {});
  EXPECT_TRUE(list_findings(observer_).list.empty());
  EXPECT_TRUE(list_findings(observer_).checked_at);
}

// All or nothing: a row that cannot be stored leaves the former ones.
TEST_F(FindingTest, AreReplacedAllOrNone) {
  store_findings(observer_, {{Level::kWarn, "clock", "off"}});
  Findings wrong{{Level::kWarn, "durability", "off"}};
  wrong[0].queue = std::string(100, 'q');
  EXPECT_THROW(store_findings(observer_, wrong), db::DbError);
  ASSERT_EQ(list_findings(observer_).list.size(), 1U);
  EXPECT_EQ(list_findings(observer_).list[0].check, "clock");
}

TEST_F(FindingTest, ThousandsAreCut) {
  store_findings(observer_, Findings(1'500, {Level::kWarn, std::string(300, 'a'),
                                             std::string(2'000, 't'), std::string(2'000, 'f')}));
  EXPECT_EQ(list_findings(observer_).list.size(), 1'000U);
}

}  // namespace
}  // namespace allot::queue

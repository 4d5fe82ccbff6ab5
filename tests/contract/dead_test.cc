// SPDX-License-Identifier: Apache-2.0
// Dead tasks: listed, in groups, retried and discarded one by one.
#include <set>

#include "base/names.h"
#include "contract/fixture.h"
#include "queue/model/error_text.h"

namespace allot::contract {
namespace {

class DeadRule : public Rule {
 protected:
  std::string die(const std::string& error, const std::string& type = "mail.send") {
    std::string id = put({.type = type, .payload = "p"});
    look().execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
        " cause, error, fault, died_at) SELECT queue_id, partition_no, prio, run_key, 1, type, "
        "payload,"
        " 'retry', " +
        db::Statement::quoted(error) + ", " + db::Statement::quoted(queue::fault_of(error, "")) +
        ", UTC_TIMESTAMP(6) FROM task; DELETE FROM task");
    return id;
  }
};

TEST_P(DeadRule, TheListBeginsWithTheNewest) {
  const std::string first = die("no such user");
  const std::string second = die("also\nno");
  const Answer list = interface().dead("default");
  ASSERT_EQ(list.document.size(), 2U) << list;
  EXPECT_EQ(list.document[0].at("task"), second);
  EXPECT_EQ(list.document[1].at("task"), first);
  EXPECT_EQ(list.document[1].at("state"), "dead");
  EXPECT_EQ(list.document[1].at("cause"), "retry");
  EXPECT_EQ(list.document[1].at("error"), "no such user");
  EXPECT_EQ(list.document[1].at("fault"), "no such user");
  EXPECT_EQ(interface().dead("narrow").document, json::array());
}

TEST_P(DeadRule, GroupsHaveWhatTheirErrorsHaveInCommon) {
  const std::string oldest = die("user 1 is gone");
  const std::string newest = die("user 22 is gone");
  die("user 3 is gone", "sms.send");
  const json list = interface().groups("default").document;
  ASSERT_EQ(list.size(), 2U) << list;
  json group = list[0];
  group.erase("group");
  EXPECT_LT(group["oldest_died_at"], group["newest_died_at"]);
  group.erase("oldest_died_at");
  group.erase("newest_died_at");
  EXPECT_EQ(group, (json{{"tasks", 2},
                         {"tasks_at_least", false},
                         {"queue", "default"},
                         {"type", "mail.send"},
                         {"cause", "retry"},
                         {"fault", "user # is gone"},
                         {"newest_task", newest}}));
  EXPECT_EQ(list[1].at("tasks"), 1);
  EXPECT_NE(list[0].at("group"), list[1].at("group"));
  const json tasks = interface().dead_of_group("default", list[0].at("group")).document;
  ASSERT_EQ(tasks.size(), 2U) << tasks;
  EXPECT_EQ(tasks[0].at("task"), newest);
  EXPECT_EQ(tasks[1].at("task"), oldest);
}

// S79; two types that differ in their last byte have groups of their own.
TEST_P(DeadRule, ATypeOf127BytesIsKeptWhole) {
  const std::string stem(kMaxTypeName - 1, 'x');
  die("no such user", stem + "a");
  die("no such user", stem + "b");
  const json list = interface().groups("default").document;
  ASSERT_EQ(list.size(), 2U) << list;
  const std::set<json> types{list[0].at("type"), list[1].at("type")};
  EXPECT_EQ(types, (std::set<json>{stem + "a", stem + "b"}));
  EXPECT_EQ(interface().dead("default").document[0].at("type"), stem + "b");
}

TEST_P(DeadRule, ARetriedTaskWaitsAndADiscardedOneIsGone) {
  const std::string first = die("no");
  const std::string second = die("no");
  EXPECT_EQ(interface().retry(first).kind, Kind::kDone);
  EXPECT_EQ(interface().state(first).word, "waiting");
  EXPECT_EQ(value("SELECT CONCAT_WS('|', type, payload, attempt) FROM task"), "mail.send|p|0");
  EXPECT_EQ(interface().state(second).word, "dead");
  EXPECT_EQ(interface().discard(second).kind, Kind::kDone);
  EXPECT_EQ(count("task_dead"), 0U);
  for (const std::string& id : {first, second, std::string("0840dqg2v5n80r00")}) {
    EXPECT_EQ(interface().retry(id).kind, Kind::kFailed) << id;
    EXPECT_EQ(interface().discard(id).kind, Kind::kFailed) << id;
  }
  EXPECT_TRUE(names(interface().retry(first), "it is waiting"));
  EXPECT_EQ(interface().retry("nonsense").kind, Kind::kBadInput);
  EXPECT_EQ(count("task"), 1U);
}

TEST_P(DeadRule, AQueueThatIsNotThereIsNamed) {
  for (const char* name : {"missing", "DEFAULT", "default "}) {
    EXPECT_EQ(interface().dead(name).kind, Kind::kBadInput) << name;
    EXPECT_EQ(interface().groups(name).kind, Kind::kBadInput) << name;
  }
}

RULES_OF(DeadRule, Can::kDead);

}  // namespace
}  // namespace allot::contract

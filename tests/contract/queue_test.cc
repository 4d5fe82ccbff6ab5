// SPDX-License-Identifier: Apache-2.0
// Operating a queue: pause, rate, number of partitions.
#include "contract/fixture.h"

namespace allot::contract {
namespace {

class QueueRule : public Rule {
 protected:
  // Entry of the queue in the list of all queues.
  json listed(const char* field) {
    for (const json& queue : interface().queues().document) {
      if (queue.at("name") == "default") return queue.at(field);
    }
    return "not listed";
  }
};

TEST_P(QueueRule, TheListHasEachQueue) {
  const Answer list = interface().queues();
  ASSERT_EQ(list.document.size(), 5U) << list;
  EXPECT_EQ(list.document.at(0), json::parse(R"({"name": "default", "partitions": 4,
      "paused": null, "rate": null, "cap": null, "resizing": false})"));
}

TEST_P(QueueRule, APauseIsShownUntilItEnds) {
  const Answer paused = interface().pause_queue("default", "the mail server moves");
  ASSERT_EQ(paused.kind, Kind::kDone) << paused;
  EXPECT_EQ(paused.document.at("paused").at("reason"), "the mail server moves");
  EXPECT_EQ(listed("paused"), paused.document.at("paused"));
  const Answer again = interface().pause_queue("default", "");
  EXPECT_EQ(again.document.at("paused").at("since"), paused.document.at("paused").at("since"));
  EXPECT_EQ(listed("paused").at("reason"), "");
  for (const char* time : {"first", "second"}) {
    const Answer resumed = interface().resume_queue("default");
    ASSERT_EQ(resumed.kind, Kind::kDone) << time << resumed;
    EXPECT_TRUE(resumed.document.at("paused").is_null()) << time;
  }
  EXPECT_TRUE(listed("paused").is_null());
  EXPECT_EQ(count("queue_pause"), 0U);
}

TEST_P(QueueRule, TheReasonOfAPauseIsText) {
  const std::string odd = "'; DROP TABLE task; -- \x1b[31m";
  EXPECT_EQ(interface().pause_queue("default", odd).document.at("paused").at("reason"), odd);
  EXPECT_TRUE(refuses(interface().pause_queue("narrow", std::string(256, 'x')), "reason"));
  EXPECT_EQ(count("queue_pause"), 1U);
}

TEST_P(QueueRule, ARateIsSetChangedAndRemoved) {
  const Answer set = interface().set_rate("default", "0.5", "");
  ASSERT_EQ(set.kind, Kind::kDone) << set;
  EXPECT_EQ(set.document.at("rate"), json::parse(R"({"per_second": 0.5, "burst": 1})"));
  EXPECT_TRUE(set.document.at("paused").is_null());
  const json changed = interface().set_rate("default", "5", "7").document.at("rate");
  EXPECT_EQ(changed, json::parse(R"({"per_second": 5.0, "burst": 7})"));
  EXPECT_EQ(listed("rate"), changed);
  for (const char* time : {"first", "second"}) {
    const Answer removed = interface().remove_rate("default");
    ASSERT_EQ(removed.kind, Kind::kDone) << time << removed;
    EXPECT_TRUE(removed.document.at("rate").is_null()) << time;
  }
}

TEST_P(QueueRule, ABadRateIsNamedAndChangesNothing) {
  for (const char* per_second : {"0", "-1", "nan", "1e9", "100001", "five"}) {
    EXPECT_TRUE(refuses(interface().set_rate("default", per_second, ""), "per_second"))
        << per_second;
  }
  for (const char* burst : {"0", "-1", "0.5", "x", "1000001"}) {
    EXPECT_TRUE(refuses(interface().set_rate("default", "1", burst), "burst")) << burst;
  }
  EXPECT_EQ(count("queue_rate"), 0U);
}

TEST_P(QueueRule, AResizeKeepsEveryLeaseRow) {
  const std::string leases =
      "q_lock_table WHERE queue_id = " + std::to_string(queue("default").queue_id);
  EXPECT_EQ(interface().resize_queue("default", "12").document.at("partitions"), 12);
  EXPECT_EQ(count(leases), 12U);
  EXPECT_EQ(interface().resize_queue("default", "3").document.at("partitions"), 3);
  EXPECT_EQ(count(leases), 12U) << "never deleted";
  EXPECT_EQ(listed("partitions"), 3);
  for (const char* partitions : {"0", "-1", "4097", "many"}) {
    EXPECT_EQ(interface().resize_queue("default", partitions).kind, Kind::kBadInput) << partitions;
  }
  EXPECT_EQ(listed("partitions"), 3);
}

TEST_P(QueueRule, MaxRunningOfALimitedQueueIsChanged) {
  const auto number = [&] { return value("SELECT max_running FROM queue WHERE name = 'limited'"); };
  for (const auto& [now, before] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    const Answer set = interface().set_max_running("limited", std::to_string(now));
    ASSERT_EQ(set.kind, Kind::kDone) << set;
    EXPECT_EQ(set.document,
              (json{{"name", "limited"}, {"max_running", now}, {"max_running_before", before}}));
    EXPECT_EQ(number(), std::to_string(now));
  }
  for (const char* wrong : {"0", "-1", "4097", "many"}) {
    EXPECT_EQ(interface().set_max_running("limited", wrong).kind, Kind::kBadInput) << wrong;
  }
  EXPECT_TRUE(refuses(interface().set_max_running("limited", "4000"), "max_running"));
  EXPECT_TRUE(refuses(interface().set_max_running("ordered", "2"), "max_running"));
  EXPECT_EQ(number(), "2");
}

TEST_P(QueueRule, AQueueThatIsNotThereIsNamed) {
  for (const std::string name : {"missing", "default ", "DEFAULT", "' OR 1=1 --", "..", ""}) {
    const Answer answers[] = {
        interface().pause_queue(name, ""),   interface().resume_queue(name),
        interface().set_rate(name, "1", ""), interface().remove_rate(name),
        interface().resize_queue(name, "2"), interface().set_max_running(name, "2")};
    for (const Answer& each : answers) EXPECT_EQ(each.kind, Kind::kBadInput) << name << each;
  }
  EXPECT_TRUE(refuses(interface().pause_queue("missing", ""), "'missing'"));
  EXPECT_EQ(count("queue_pause") + count("queue_rate"), 0U);
  EXPECT_EQ(count("queue"), 5U);
}

RULES_OF(QueueRule, Can::kQueues);

}  // namespace
}  // namespace allot::contract

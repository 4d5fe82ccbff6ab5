// SPDX-License-Identifier: Apache-2.0
// Cancelling a task, by either end that it may have; and finding one.
#include <algorithm>
#include <cctype>

#include "contract/fixture.h"
#include "queue/model/task.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"

namespace allot::contract {
namespace {

const Task kUnique{.payload = "p", .options = {{"unique_key", "k"}, {"unique_for", "1h"}}};

std::string capitals_of(std::string id) {
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return id;
}

// Texts that cannot be a task id.
std::vector<std::string> no_ids(const std::string& good) {
  std::string spelled = good;  // with a letter that lower case makes a k
  spelled.replace(spelled.size() - 1, 1, "\u212A");
  return {"",
          "x",
          "nonsense",
          good + "0",
          good.substr(1),
          spelled,
          std::string(16, 'i'),
          std::string(29, 'z'),
          std::string(1000, '0'),
          "' OR 1=1 -- aaaaaaa"};
}

class CancelRule : public Rule {
 protected:
  void expect_cancelled(const Answer& answer) {
    EXPECT_EQ(answer.kind, Kind::kDone) << answer;
    EXPECT_EQ(answer.word, "cancelled") << answer;
  }
  void expect_asked(const Answer& answer) {
    EXPECT_EQ(answer.kind, Kind::kDone) << answer;
    EXPECT_EQ(answer.word, "requested") << answer;
  }
  void expect_refused(const Answer& answer, const std::string& word) {
    EXPECT_EQ(answer.kind, Kind::kFailed) << answer;
    EXPECT_EQ(answer.word, word) << answer;
  }
  std::string dead() {
    return value("SELECT CONCAT_WS('|', cause, error, payload, attempt) FROM task_dead");
  }
};

TEST_P(CancelRule, AWaitingTaskIsDeadAndItsKeyIsFree) {
  const std::string id = put(kUnique);
  expect_cancelled(interface().cancel(id, "not wanted", false));
  EXPECT_EQ(dead(), "cancelled|not wanted|p|0");
  EXPECT_EQ(count("task"), 0U);
  const Answer again = interface().submit(kUnique);
  EXPECT_EQ(again.existed, 0U) << "its key is free at once";
  EXPECT_NE(again.id(), id);
  expect_refused(interface().cancel(id, "", false), "dead");
  expect_refused(interface().cancel(id, "", true), "dead");
  look().execute("DELETE FROM task_dead");
  expect_refused(interface().cancel(id, "", false), "gone");
}

TEST_P(CancelRule, ATaskThatWaitsAfterARetryToo) {
  const std::string id = put({.payload = "p"});
  retry();
  expect_cancelled(interface().cancel(id, "", false));
  EXPECT_EQ(dead(), "cancelled||p|2");
  EXPECT_EQ(count("task") + count("task_moved"), 0U);
}

TEST_P(CancelRule, ATaskInALeasedPartitionToo) {
  const std::string id = put();
  lease();
  expect_cancelled(interface().cancel(id, "", false));
  EXPECT_EQ(count("task_dead"), 1U);
}

TEST_P(CancelRule, ARunningTaskIsAskedToEnd) {
  const std::string id = put();
  announce();
  expect_asked(interface().cancel(id, "first", false));
  expect_asked(interface().cancel(id, "second", false));
  EXPECT_EQ(value("SELECT CONCAT(reason, as_done) FROM task_cancel"), "first0");
  EXPECT_EQ(count("task"), 1U);
  detach();
  look().execute("DELETE FROM task_cancel");
  expect_asked(interface().cancel(id, "", false));
  EXPECT_EQ(count("task_cancel"), 1U);
}

TEST_P(CancelRule, AWaitingTaskEndsAsDoneAndKeepsItsKey) {
  const std::string id = put(kUnique);
  look().execute(
      "INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, attempt, ended_at, cause,"
      " error, lock_host, lock_pid) SELECT queue_id, partition_no, prio, run_key, 1,"
      " UTC_TIMESTAMP(6), 'retry', '', 'h', 1 FROM task");
  expect_cancelled(interface().cancel(id, "by hand", true));
  EXPECT_EQ(count("task") + count("task_dead") + count("task_attempt") + count("task_cancel"), 0U);
  EXPECT_EQ(interface().submit(kUnique).existed, 1U);
  EXPECT_EQ(value("SELECT free_at > UTC_TIMESTAMP(6) + INTERVAL 59 MINUTE FROM task_unique"), "1");
  expect_refused(interface().cancel(id, "", true), "gone");
}

TEST_P(CancelRule, TheFirstRequestDecidesHowARunningTaskEnds) {
  const std::string id = put();
  announce();
  expect_asked(interface().cancel(id, "", true));
  expect_asked(interface().cancel(id, "", true));
  expect_refused(interface().cancel(id, "", false), "conflict");
  EXPECT_EQ(value("SELECT as_done FROM task_cancel"), "1");
  look().execute("DELETE FROM task_cancel");
  expect_asked(interface().cancel(id, "", false));
  expect_refused(interface().cancel(id, "", true), "conflict");
  EXPECT_EQ(value("SELECT as_done FROM task_cancel"), "0");
  EXPECT_EQ(count("task"), 1U);
}

TEST_P(CancelRule, TheReasonIsText) {
  for (const std::string reason : {"x'); DROP TABLE task; -- ", "\\', ''); DELETE FROM queue; #",
                                   "%s%n`\"\\", "\xc3\xa9\xf0\x9f\x8e\x84", "--as-done"}) {
    const std::string id = put();
    expect_cancelled(interface().cancel(id, reason, false));
    EXPECT_EQ(value("SELECT error FROM task_dead"), reason);
    look().execute("DELETE FROM task_dead");
  }
  EXPECT_EQ(count("queue"), 5U);
}

// Ids are read aloud, and typed.
TEST_P(CancelRule, AnIdMayHaveCapitals) {
  const std::string id = put();
  ASSERT_NE(capitals_of(id), id);
  expect_cancelled(interface().cancel(capitals_of(id), "typed", false));
}

TEST_P(CancelRule, InvalidIdIsRefused) {
  const std::string good = put();
  for (const std::string& id : no_ids(good)) {
    const Answer refused = interface().cancel(id, "", false);
    EXPECT_EQ(refused.kind, Kind::kBadInput) << id << refused;
  }
  EXPECT_EQ(count("task"), 1U);
}

RULES_OF(CancelRule, Can::kCancel);

class FindRule : public Rule {
 protected:
  std::string state(const std::string& id) {
    const Answer answer = interface().state(id);
    return answer.kind == Kind::kFailed ? "gone" : answer.word + answer.text;
  }
  // "" when no task has the key.
  std::string owner(const std::string& key) {
    const Answer answer = interface().find("default", key);
    return answer.kind == Kind::kFailed ? "" : answer.id() + " " + answer.word + answer.text;
  }
};

TEST_P(FindRule, ATasksStateIsFoundByItsId) {
  const std::string id = put({.options = {{"prio", "2"}}});
  EXPECT_EQ(state(id), "waiting");
  EXPECT_EQ(state(capitals_of(id)), "waiting");
  retry();
  EXPECT_EQ(state(id), "waiting") << "after a retry";
  detach();
  EXPECT_EQ(state(id), "running");
  look().execute(
      "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
      " cause, error, died_at) SELECT queue_id, partition_no, prio, first_key, 1, type, payload,"
      " '', '', UTC_TIMESTAMP(6) FROM task_running; DELETE FROM task_running");
  EXPECT_EQ(state(id), "dead");
  look().execute("DELETE FROM task_dead");
  EXPECT_EQ(state(id), "gone");
}

TEST_P(FindRule, AKeysTaskIsFoundWhereverItIs) {
  const std::string key = "k/\u00e9 ?";
  EXPECT_EQ(owner(key), "");
  Task unique = kUnique;
  unique.options["unique_key"] = key;
  const std::string id = put(unique);
  EXPECT_EQ(owner(key), id + " waiting");
  EXPECT_EQ(interface().find("narrow", key).kind, Kind::kFailed) << "keys belong to a queue";
  EXPECT_EQ(owner("K/\u00e9 ?"), "") << "and bytes";
  EXPECT_EQ(owner(key + " "), "");
  retry();
  EXPECT_EQ(owner(key), id + " waiting") << "after a retry";
  detach();
  EXPECT_EQ(owner(key), id + " running");
  finish();
  EXPECT_EQ(owner(key), id + " done");
  look().execute("UPDATE task_unique SET free_at = UTC_TIMESTAMP(6)");
  EXPECT_EQ(owner(key), "");
}

TEST_P(FindRule, InvalidKeyIsRefused) {
  for (const std::string& id : no_ids(put())) {
    EXPECT_EQ(interface().state(id).kind, Kind::kBadInput) << id;
  }
  for (const char* name : {"missing", "default ", "DEFAULT"}) {
    EXPECT_EQ(interface().find(name, "k").kind, Kind::kBadInput) << name;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{256}}) {
    EXPECT_EQ(interface().find("default", std::string(size, 'k')).kind, Kind::kBadInput) << size;
  }
  EXPECT_EQ(interface().find("default", std::string(255, 'k')).kind, Kind::kFailed);
}

RULES_OF(FindRule, Can::kFind);

}  // namespace
}  // namespace allot::contract

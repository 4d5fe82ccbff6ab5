// SPDX-License-Identifier: Apache-2.0
// Conformance test of the protocol: each kind of line in both directions, in each language that has
// a helper.
#include <ctime>
#include <thread>

#include "support/eventually.h"
#include "unit/plugins/pipe_fixture.h"

namespace allot {
namespace {

using std::chrono::milliseconds;

struct Language {
  const char* name;
  const char* interpreter;
  const char* suffix;
  const char* thrown;
  const char* error;         // the same as the reason of a verdict
  const char* no = nullptr;  // false, if a handler reports its return value
};
void PrintTo(const Language& language, std::ostream* out) {
  *out << language.name;
}

class PipeLanguageTest : public PipeTest, public testing::WithParamInterface<Language> {
 protected:
  PipeLanguageTest() {
    begin({GetParam().interpreter,
           std::string(ALLOT_SOURCE_DIR "/tests/unit/plugins/pipe/tour.") + GetParam().suffix});
  }
  test::Ran run(const std::string& payload) { return handler_->run(payload); }
};

INSTANTIATE_TEST_SUITE_P(
    Languages, PipeLanguageTest,
    testing::Values(Language{"python", "/usr/bin/python3", "py", "ValueError: thrown",
                             "ValueError: thrown", "False"},
                    Language{"php", "/usr/bin/php", "php", "RuntimeException: thrown",
                             "RuntimeException: thrown", "false"},
                    Language{"ruby", "/usr/bin/ruby", "rb", "ArgumentError: thrown",
                             "ArgumentError: thrown"},
                    Language{"node", "/usr/bin/node", "js", "Error: thrown", "Error: thrown"},
                    Language{"perl", "/usr/bin/perl", "pl", "thrown", "Thrown: thrown"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(PipeLanguageTest, EachVerdict) {
  EXPECT_EQ(run("success").outcome, success());
  EXPECT_EQ(run("fail").outcome, fail("it is b\xc3\xa4"
                                      "d"));
  EXPECT_EQ(run("retry").outcome, retry("not yet", milliseconds(1500)));
  EXPECT_EQ(run("snooze").outcome, snooze(milliseconds(2000)));
  EXPECT_EQ(run("release").outcome, release("not here"));
}

TEST_P(PipeLanguageTest, AnExceptionHasItsClassAndItsTrace) {
  const auto thrown = run("throw").outcome;
  EXPECT_EQ(thrown.kind, ALLOT_RETRY);
  EXPECT_EQ(thrown.reason.substr(0, std::string(GetParam().thrown).size()), GetParam().thrown);
  EXPECT_NE(thrown.detail.find(std::string("tour.") + GetParam().suffix), std::string::npos)
      << thrown.detail;
}

// Class, message and trace of an error are reported for a failure and a retry, too.
TEST_P(PipeLanguageTest, AnErrorMayBeTheReason) {
  const std::string thrown = GetParam().error;
  const auto failed = run("failing fail").outcome;
  EXPECT_EQ(failed.kind, ALLOT_FAIL);
  EXPECT_EQ(failed.reason, thrown);
  EXPECT_FALSE(failed.detail.empty());
  const auto again = run("failing retry").outcome;
  EXPECT_EQ(again.kind, ALLOT_RETRY);
  EXPECT_EQ(again.reason, thrown);
  EXPECT_EQ(again.delay, milliseconds(2000));
}

// If a handler returns values explicitly, only nothing and true are success; if it returns its last
// expression, only a verdict has a meaning.
TEST_P(PipeLanguageTest, ReturnValueIsTheVerdict) {
  const bool says = GetParam().no != nullptr;
  EXPECT_EQ(run("return nothing").outcome, success());
  EXPECT_EQ(run("return true").outcome, success());
  EXPECT_EQ(run("return false").outcome,
            says ? retry("the handler returned " + std::string(GetParam().no)) : success());
  EXPECT_EQ(run("return number").outcome,
            says ? retry("the handler returned a value of the type int, no verdict") : success());
}

TEST_P(PipeLanguageTest, TaskFieldsArePassed) {
  test::Task task;
  task.payload = "facts";
  task.attempt = 2;
  task.traceparent = "00-aa-bb-01";
  EXPECT_EQ(handler_->run(task).log, "info 0840dqg2v5n80r00 test t 2 10 00-aa-bb-01 false\n");
}

TEST_P(PipeLanguageTest, AStrayPrintBreaksNothing) {
  const auto ran = run("print");
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(ran.log, "info a stray line\n");
}

TEST_P(PipeLanguageTest, WritesBesidesTheVerdict) {
  EXPECT_GE(run("beat").heartbeats, 1);
  EXPECT_EQ(run("log").log, "warn logged\n");
  EXPECT_EQ(run("progress").progress,
            (std::vector<std::pair<std::uint32_t, std::string>>{{40,
                                                                 "half b\xc3\xa4"
                                                                 "d"}}));
  EXPECT_EQ(run("checkpoint half-way").checkpoints, std::vector<std::string>{"half-way"});
  const auto submits = run("submit more");
  ASSERT_EQ(submits.submitted.size(), 1U);
  EXPECT_EQ(submits.submitted[0].type, "x.next");
  EXPECT_EQ(submits.submitted[0].payload, "more");
  EXPECT_EQ(submits.submitted[0].delay, std::chrono::minutes(5));
  EXPECT_EQ(submits.submitted[0].prio, 2U);
  EXPECT_EQ(submits.log, "info id-1\n");
  const auto replaces = run("replace more");
  ASSERT_EQ(replaces.replaced_with.size(), 1U);
  EXPECT_EQ(replaces.replaced_with[0].queue, "other");
}

TEST_P(PipeLanguageTest, RefusalSaysWhy) {
  test::Task task;
  task.payload = "refused";
  task.lease_lost = true;
  EXPECT_EQ(handler_->run(task).outcome, fail("lease_lost"));
}

// Each script sends its input back as a checkpoint.
TEST_P(PipeLanguageTest, AnyBytesGoInAndOut) {
  for (const std::string& bytes :
       {std::string("\0\xff\n\"", 4), std::string(70'000, '\xe4'),
        "\xc3\xa4\n\"\\" + std::string(100'000, 'x') + '\0' + "\xf0\x9f\x90\x8c"}) {
    const auto ran = run(bytes);
    EXPECT_EQ(ran.outcome, success());
    ASSERT_EQ(ran.checkpoints.size(), 1U);
    EXPECT_TRUE(ran.checkpoints[0] == bytes) << ran.checkpoints[0].size();
  }
}

TEST_P(PipeLanguageTest, AStopIsPassedOn) {
  EXPECT_EQ(run("success").outcome, success());  // it has started
  const std::pair<std::int32_t, const char*> reasons[] = {{ALLOT_STOP_CANCELLED, "cancelled"},
                                                          {ALLOT_STOP_TIME_LIMIT, "time_limit"},
                                                          {ALLOT_STOP_LEASE, "lease_in_doubt"},
                                                          {ALLOT_STOP_WORKER, "worker_leaves"}};
  for (const auto& [reason, word] : reasons) {
    handler_->request_stop(3, reason);
    EXPECT_EQ(run("stop").outcome, retry(std::string("stopped: ") + word));
  }
}

TEST_P(PipeLanguageTest, ACrashCostsTheTaskAndTheNextOneRuns) {
  const auto crashed = run("crash").outcome;
  EXPECT_EQ(crashed.kind, ALLOT_RETRY);
  EXPECT_EQ(crashed.reason, "it ended during the task; exit code 3");
  EXPECT_EQ(run("success").outcome, success());
}

// The example of each language is next to its helper.
TEST_P(PipeLanguageTest, TheExampleGreets) {
  begin({GetParam().interpreter, kHelpers + "/examples/greet." + GetParam().suffix});
  const auto ran = run("Ada");
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(ran.log, "info hello, Ada\n");
  EXPECT_EQ(run("").outcome, fail("no name to greet"));
}

}  // namespace
}  // namespace allot

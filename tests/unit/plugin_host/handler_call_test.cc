// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/handler_call.h"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <vector>

#include "unit/plugin_host/fixture.h"

namespace allot::plugin_host {
namespace {

using std::chrono::milliseconds;

// Records a handler's calls of its host. Handlers may call it from any thread.
class Recorder : public HostHooks {
 public:
  void log(int level, std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    lines.push_back(std::to_string(level) + " " + std::string(text));
  }
  std::int32_t stop_reason() noexcept override {
    const std::lock_guard lock(mutex_);
    return stop ? ALLOT_STOP_WORKER : ALLOT_STOP_NONE;
  }
  void progress(std::uint32_t percent, std::string_view word) noexcept override {
    const std::lock_guard lock(mutex_);
    lines.push_back(std::to_string(percent) + " % " + std::string(word));
  }
  void heartbeat() noexcept override {
    const std::lock_guard lock(mutex_);
    ++beats;
  }

  std::vector<std::string> lines;
  bool stop = false;
  int beats = 0;

 private:
  std::mutex mutex_;
};

const std::vector<std::string> kEveryLevel = {"0 at debug", "1 at info", "2 at warn", "3 at error"};

class HandlerCallTest : public testing::Test {
 protected:
  // Loads the plugin, and runs one task in its handler of `type`.
  CallResult run(const std::string& plugin, const std::string& type, std::string_view payload = {},
                 const Sections& sections = {}) {
    const Registry registry = Registry::load(folder_of(plugin), sections);
    return run(registry, type, payload);
  }
  CallResult run(const Registry& registry, const std::string& type, std::string_view payload) {
    const LoadedHandler* handler = registry.find(type);
    if (handler == nullptr) throw Error("no handler for " + type);
    return call(*handler, {"id-7", "mail", type, payload, 3, 5, 0}, hooks_);
  }

  Recorder hooks_;
};

TEST_F(HandlerCallTest, SuccessHasNoReasonAndNoDelay) {
  const auto result = run("good", "test.variant");
  EXPECT_EQ(result.kind, OutcomeKind::kSuccess);
  EXPECT_EQ(result.reason, "");
  EXPECT_EQ(result.delay, std::nullopt);
}

TEST_F(HandlerCallTest, AFailureCarriesItsReason) {
  const auto result = run("probe", "test.fail", "no such user");
  EXPECT_EQ(result.kind, OutcomeKind::kFail);
  EXPECT_EQ(result.reason, "no such user");
}

TEST_F(HandlerCallTest, ARetryWithoutDelayLeavesItToThePolicy) {
  const auto result = run("probe", "test.retry", "busy");
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_EQ(result.reason, "busy");
  EXPECT_EQ(result.delay, std::nullopt);
}

TEST_F(HandlerCallTest, ARetryPassesItsDelay) {
  const auto result = run("observe", "observe.later");
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_EQ(result.delay, milliseconds(1500));
}

TEST_F(HandlerCallTest, AnExceptionIsKnownAsOneAndHasItsMessage) {
  const auto result = run("probe", "test.throw", "it broke");
  EXPECT_EQ(result.kind, OutcomeKind::kException);
  EXPECT_EQ(result.reason, "std::runtime_error: it broke");
  EXPECT_EQ(result.delay, std::nullopt);
}

TEST_F(HandlerCallTest, AnythingElseThatIsThrownIsOneToo) {
  const auto result = run("probe", "test.throw_int");
  EXPECT_EQ(result.kind, OutcomeKind::kException);
  EXPECT_EQ(result.reason, "int");
}

TEST_F(HandlerCallTest, ASnoozePassesItsDelayAndItsReason) {
  const auto result = run("probe", "test.snooze", "1500");
  EXPECT_EQ(result.kind, OutcomeKind::kSnooze);
  EXPECT_EQ(result.delay, milliseconds(1500));
  EXPECT_EQ(result.reason, "not now");
}

TEST_F(HandlerCallTest, NotStartedPassesDelayAndReason) {
  const auto result = run("probe", "test.not_started", "");
  EXPECT_EQ(result.kind, OutcomeKind::kNotStarted);
  EXPECT_EQ(result.delay, milliseconds(0));
  EXPECT_EQ(result.reason, "no such program");
}

TEST_F(HandlerCallTest, AReleaseHasNoDelay) {
  const auto result = run("probe", "test.release", "");
  EXPECT_EQ(result.kind, OutcomeKind::kRelease);
  EXPECT_EQ(result.delay, std::nullopt);
}

TEST_F(HandlerCallTest, AnUnknownOutcomeIsNeverAnAcknowledgement) {
  const auto result = run("c_plugin", "test.c", "unknown");
  EXPECT_EQ(result.kind, OutcomeKind::kRetry);
  EXPECT_EQ(result.reason, "the handler returned an unknown outcome (99)");
}

TEST_F(HandlerCallTest, EachOutcomeHasItsNumber) {
  EXPECT_EQ(run("c_plugin", "test.c", "0").kind, OutcomeKind::kSuccess);
  EXPECT_EQ(run("c_plugin", "test.c", "1").kind, OutcomeKind::kRetry);
  EXPECT_EQ(run("c_plugin", "test.c", "2").kind, OutcomeKind::kFail);
  EXPECT_EQ(run("c_plugin", "test.c", "3").kind, OutcomeKind::kSnooze);
  EXPECT_EQ(run("c_plugin", "test.c", "4").kind, OutcomeKind::kRelease);
  EXPECT_EQ(run("c_plugin", "test.c", "5").kind, OutcomeKind::kException);
  EXPECT_EQ(run("c_plugin", "test.c", "6").kind, OutcomeKind::kNotStarted);
  EXPECT_EQ(run("c_plugin", "test.c", "7").kind, OutcomeKind::kRetry);
  EXPECT_EQ(run("c_plugin", "test.c", "7").reason, "the handler returned an unknown outcome (7)");
}

TEST_F(HandlerCallTest, ACallThatIsNotOfferedSaysSo) {
  const auto result = run("c_plugin", "test.c", "submit");
  EXPECT_EQ(result.kind, OutcomeKind::kFail);
  EXPECT_EQ(result.reason, "this call is not available here");
}

TEST_F(HandlerCallTest, ADelayThatMakesNoSenseIsBounded) {
  EXPECT_EQ(run("c_plugin", "test.c", "negative delay").delay, std::nullopt);
  const auto endless = run("c_plugin", "test.c", "endless delay").delay;
  EXPECT_EQ(endless, std::chrono::hours(36500 * 24));
}

TEST_F(HandlerCallTest, AReasonIsCutAt64KiB) {
  constexpr std::size_t kMost = 65536;
  EXPECT_EQ(run("observe", "observe.verbose", "65535").reason.size(), kMost - 1);
  EXPECT_EQ(run("observe", "observe.verbose", "65536").reason.size(), kMost);
  EXPECT_EQ(run("observe", "observe.verbose", "65537").reason, std::string(kMost, 'x'));
}

TEST_F(HandlerCallTest, ASizeBeyondTheBufferIsNotBelieved) {
  EXPECT_EQ(run("c_plugin", "test.c", "greedy").reason, std::string(65536, 'g'));
}

// One buffer serves all calls of a thread: a call must not see the text of an earlier one.
TEST_F(HandlerCallTest, AReasonIsNotSeenByTheNextTask) {
  const Registry registry = Registry::load(folder_of("c_plugin"), {});
  EXPECT_EQ(run(registry, "test.c", "greedy").reason.size(), 65536U);
  EXPECT_EQ(run(registry, "test.c", "fine").reason, "");
}

TEST_F(HandlerCallTest, AHandlerKeepsItsStateBetweenTasks) {
  const Registry registry = Registry::load(folder_of("c_plugin"), {});
  EXPECT_EQ(run(registry, "test.c", "count").reason, "run 1 of attempt 3");
  EXPECT_EQ(run(registry, "test.c", "count").reason, "run 2 of attempt 3");
}

TEST_F(HandlerCallTest, ATaskIsPassedAsItIs) {
  EXPECT_EQ(run("observe", "observe.task", "pay").reason, "id-7|mail|observe.task|pay|3|5");
  EXPECT_EQ(run("observe", "observe.task", "").reason, "id-7|mail|observe.task||3|5");
  const std::string opaque("\0\xff\n", 3);
  EXPECT_EQ(run("observe", "observe.task", opaque).reason,
            "id-7|mail|observe.task|" + opaque + "|3|5");
}

TEST_F(HandlerCallTest, APluginsSectionReachesItsConstructor) {
  const Sections sections = {{"watcher", {{"a", "b"}, {"word", "from the section"}}},
                             {"observe", {{"word", "from the file's name"}}}};
  EXPECT_EQ(run("observe", "observe.config", "", sections).reason, "from the section");
  EXPECT_EQ(run("observe", "observe.config", "", {{"other", {{"word", "x"}}}}).reason, "fallback");
  EXPECT_EQ(run("observe", "observe.config", "", {{"watcher", {{"word", ""}}}}).reason, "");
}

TEST_F(HandlerCallTest, HooksReachTheHost) {
  EXPECT_EQ(run("observe", "observe.hooks").reason, "may continue");
  EXPECT_EQ(hooks_.lines, kEveryLevel);
  EXPECT_EQ(hooks_.beats, 1);
}

TEST_F(HandlerCallTest, AStopIsSeen) {
  hooks_.stop = true;
  EXPECT_EQ(run("observe", "observe.hooks").reason, "asked to stop");
}

TEST_F(HandlerCallTest, HooksWorkFromASecondThread) {
  hooks_.stop = true;
  EXPECT_EQ(run("observe", "observe.thread").reason, "asked to stop");
  EXPECT_EQ(hooks_.lines, kEveryLevel);
  EXPECT_EQ(hooks_.beats, 1);
}

// Several tasks in one call.
class CallManyTest : public testing::Test {
 protected:
  ManyResult run(const std::string& plugin, const std::string& type,
                 const std::vector<std::string>& payloads) {
    const Registry registry =
        Registry::load(folder_of(plugin), {{"batch", {{"output", "/dev/null"}}}});
    const LoadedHandler* handler = registry.find(type);
    if (handler == nullptr) throw Error("no handler for " + type);
    std::vector<CallInput> inputs;
    std::vector<HostHooks*> hooks;
    recorders_.clear();
    for (const std::string& payload : payloads) {
      inputs.push_back({"id-7", "mail", type, payload, 3, 5, 0});
      hooks.push_back(&recorders_.emplace_back());
    }
    return call_many(*handler, inputs, hooks);
  }

  std::deque<Recorder> recorders_;
};

TEST_F(CallManyTest, EachTaskHasAnOutcomeAndAHostOfItsOwn) {
  const auto result =
      run("batch", "batch.fifty", {"a log", "b retry", "c fail", "d snooze", "e release"});
  ASSERT_EQ(result.each.size(), 5U);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.each[0].kind, OutcomeKind::kSuccess);
  EXPECT_EQ(result.each[0].reason, "");
  EXPECT_EQ(result.each[1].kind, OutcomeKind::kRetry);
  EXPECT_EQ(result.each[1].reason, "again");
  EXPECT_EQ(result.each[1].delay, std::chrono::hours(1));
  EXPECT_EQ(result.each[2].kind, OutcomeKind::kFail);
  EXPECT_EQ(result.each[2].reason, "never");
  EXPECT_EQ(result.each[2].delay, std::nullopt);
  EXPECT_EQ(result.each[3].kind, OutcomeKind::kSnooze);
  EXPECT_EQ(result.each[4].kind, OutcomeKind::kRelease);
  EXPECT_EQ(recorders_[0].lines, std::vector<std::string>{"1 of a"});
  EXPECT_TRUE(recorders_[1].lines.empty());
}

TEST_F(CallManyTest, AnExceptionSaysNothingOfAny) {
  const auto result = run("batch", "batch.fifty", {"a ok", "b refuse"});
  EXPECT_TRUE(result.each.empty());
  EXPECT_EQ(result.error, "std::runtime_error: no call with b");
}

TEST_F(CallManyTest, NorDoesAnotherNumberOfOutcomes) {
  const auto result = run("batch", "batch.fifty", {"a ok", "b odd", "c ok"});
  EXPECT_TRUE(result.each.empty());
  EXPECT_EQ(result.error, "run_many returned 1 outcomes for 3 tasks");
}

TEST_F(CallManyTest, APluginInCSaysSoByWhatItReturns) {
  EXPECT_EQ(run("c_plugin", "test.c", {"say nothing", "x"}).error, "nothing of 2");
  const auto loud = run("c_plugin", "test.c", {"say too much", "x"});
  EXPECT_EQ(loud.error, std::string(65536, 'e'));
  EXPECT_TRUE(loud.each.empty());
}

// The same rules as for a single task.
TEST_F(CallManyTest, OutcomesAreNotBelievedBeyondTheirBounds) {
  const auto result = run("c_plugin", "test.c", {"count", "unknown", "greedy", "negative delay"});
  ASSERT_EQ(result.each.size(), 4U);
  EXPECT_EQ(result.each[0].reason, "run 1 of attempt 3");
  EXPECT_EQ(result.each[1].reason, "the handler returned an unknown outcome (99)");
  EXPECT_EQ(result.each[2].reason, std::string(65536, 'g'));
  EXPECT_EQ(result.each[3].delay, std::nullopt);
  for (const Recorder& recorder : recorders_) EXPECT_EQ(recorder.beats, 1);
}

TEST_F(CallManyTest, AReasonIsNotSeenByTheNextCall) {
  EXPECT_EQ(run("c_plugin", "test.c", {"greedy", "greedy"}).each[1].reason.size(), 65536U);
  const auto fine = run("c_plugin", "test.c", {"fine", "0", "fine"});
  ASSERT_EQ(fine.each.size(), 3U);
  for (const CallResult& one : fine.each) EXPECT_EQ(one.reason, "");
}

TEST(OutcomeKindName, IsTheWordOfTheSdk) {
  EXPECT_STREQ(name_of(OutcomeKind::kSuccess), "success");
  EXPECT_STREQ(name_of(OutcomeKind::kRetry), "retry");
  EXPECT_STREQ(name_of(OutcomeKind::kFail), "fail");
}

}  // namespace
}  // namespace allot::plugin_host

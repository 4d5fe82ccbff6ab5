// SPDX-License-Identifier: Apache-2.0
// Programs that crash, hang, write invalid lines or leave processes behind, and their end.
// Rule: S80.
#include <signal.h>

#include <chrono>
#include <thread>

#include "support/environment.h"
#include "support/eventually.h"
#include "support/process.h"
#include "unit/plugins/pipe_fixture.h"

namespace allot {
namespace {

using std::chrono::milliseconds;
using support::eventually;

class PipeEndTest : public PipeTest {
 protected:
  static constexpr const char* kHangs =
      "for task in tasks():\n"
      "  if task['payload'] == 'hang': time.sleep(600)\n"
      "  success(task)\n";

  // True if it has ended, although its new parent may take time to reap it.
  static bool gone(const std::string& pid) {
    const std::string status = support::read_file("/proc/" + pid + "/status");
    return status.empty() || status.find("\nState:\tZ") != std::string::npos;
  }
  // Numbers of the programs that a script noted with note(str(os.getpid())).
  [[nodiscard]] bool all_gone() const {
    return eventually([this] {
      const auto pids = notes();
      return std::all_of(pids.begin(), pids.end(), gone);
    });
  }
  // The first task breaks the program, and the second one runs in a new one.
  void breaks(const std::string& how, const std::string& reason, const test::Settings& more = {},
              const std::string& detail = {}) {
    begin_python(
        "note(str(os.getpid()))\n"
        "for task in tasks():\n"
        "  if task['payload'] == 'break':\n"
        "    " +
            how + "\n  success(task)\n",
        more);
    EXPECT_EQ(handler_->run("fine").outcome, success());
    const auto broken = handler_->run("break").outcome;
    EXPECT_EQ(broken.kind, ALLOT_RETRY);
    EXPECT_EQ(broken.delay, std::nullopt);
    EXPECT_EQ(broken.reason.substr(0, reason.size()), reason);
    EXPECT_EQ(broken.detail.substr(0, detail.size()), detail);
    EXPECT_EQ(handler_->run("fine").outcome, success());
    EXPECT_EQ(notes().size(), 2U) << "the program that broke was not used again";
    handler_.reset();
    EXPECT_TRUE(all_gone());
  }
};

TEST_F(PipeEndTest, ACrash) {
  breaks("os.kill(os.getpid(), signal.SIGSEGV)",
         "it ended during the task; signal 11 (Segmentation fault)");
}

// For example the program of another type, or one of exec: its status is not taken.
TEST_F(PipeEndTest, ACrashDoesNotConcernAnotherChildOfTheWorker) {
  support::Process other({"sleep", "600"});
  breaks("os._exit(1)", "it ended during the task; exit code 1");
  EXPECT_TRUE(other.running());
  other.kill9();
}

TEST_F(PipeEndTest, AnExitWithLastWords) {
  breaks("sys.exit('no such table')", "it ended during the task; exit code 1", {}, "no such table");
}

TEST_F(PipeEndTest, ATracebackIsReported) {
  breaks("raise KeyError('x')", "it ended during the task; exit code 1", {}, "Traceback");
}

TEST_F(PipeEndTest, ACloseOfItsPipe) {
  breaks("os.close(4); time.sleep(600)", "it ended during the task; signal 9 (Killed)");
}

TEST_F(PipeEndTest, GarbageOnItsPipe) {
  breaks("os.write(4, b'debug: hello\\n'); time.sleep(600)",
         "it wrote an invalid line: it is not JSON, at byte 1; signal 9 (Killed)");
}

TEST_F(PipeEndTest, BytesThatAreNoText) {
  breaks("os.write(4, b'\\xff\\0\\n'); time.sleep(600)",
         "it wrote an invalid line: it is not JSON, at byte 2: a NUL byte");
}

TEST_F(PipeEndTest, AVerdictAboutAnotherTask) {
  breaks("say(kind='verdict', id='0840dqg2v5n80r99', verdict='success'); time.sleep(600)",
         "it wrote an invalid line: it names the task '0840dqg2v5n80r99', which is not running");
}

TEST_F(PipeEndTest, AMisspeltField) {
  breaks("say(kind='verdict', id=task['id'], verdict='retry', dealy='5s'); time.sleep(600)",
         "it wrote an invalid line: unknown field 'dealy'");
}

TEST_F(PipeEndTest, ALineWithoutEnd) {
  breaks("[os.write(4, b'x' * 65536) for _ in range(10000)]",
         "it wrote an invalid line: a line longer than 100728832 bytes");
}

TEST_F(PipeEndTest, AHang) {
  breaks("time.sleep(600)", "its timeout expired; signal 9 (Killed)",
         {{"timeout", "2s"}, {"kill_after", "50ms"}});
}

TEST_F(PipeEndTest, ASilence) {
  breaks("say(kind='heartbeat', id=task['id']); time.sleep(600)", "it sent nothing for 2000 ms",
         {{"progress_every", "2s"}});
}

TEST_F(PipeEndTest, AHeartbeatKeepsItAlive) {
  begin_python(
      "for task in tasks():\n"
      "  for _ in range(60):\n"
      "    time.sleep(0.1)\n"
      "    say(kind='heartbeat', id=task['id'])\n"
      "  success(task)\n",
      {{"progress_every", "5s"}});
  const auto ran = handler_->run("");
  EXPECT_EQ(ran.outcome, success());
  EXPECT_GT(ran.heartbeats, 0);
}

TEST_F(PipeEndTest, NoHello) {
  begin({"/bin/sh", "-c", "echo waiting for something; exec sleep 600"}, {{"hello_timeout", "1s"}});
  const auto outcome = handler_->run("").outcome;
  EXPECT_EQ(outcome,
            not_started("no hello within 1000 ms; signal 9 (Killed)\nwaiting for something"));
}

TEST_F(PipeEndTest, AWrongHello) {
  begin_python("say(kind='hello', protocol=2); time.sleep(600)");
  EXPECT_EQ(handler_->run("").outcome,
            not_started("it wrote an invalid line: it speaks protocol 2, this worker 1; signal 9 "
                        "(Killed)"));
}

TEST_F(PipeEndTest, AnEndBeforeTheHello) {
  begin({"/bin/sh", "-c", "echo no interpreter >&2; exit 4"});
  EXPECT_EQ(
      handler_->run("").outcome,
      (Outcome{ALLOT_NOT_STARTED, {}, "it ended before its hello; exit code 4", "no interpreter"}));
}

TEST_F(PipeEndTest, AProgramThatIsNotThere) {
  begin({"/no/such/program"});
  EXPECT_EQ(handler_->run("").outcome,
            not_started("cannot start /no/such/program: No such file or directory"));
}

TEST_F(PipeEndTest, AStopBeforeTheHello) {
  begin_python("note(str(os.getpid())); time.sleep(600)", {{"hello_timeout", "1h"}});
  handler_->request_stop(3);
  EXPECT_EQ(handler_->run("").outcome, retry("it was asked to stop", milliseconds(0)));
  EXPECT_TRUE(all_gone());
}

TEST_F(PipeEndTest, AStopThatItDoesNotHear) {
  begin_python(kHangs, {{"stop_grace", "50ms"}});
  EXPECT_EQ(handler_->run("fine").outcome, success());
  handler_->request_stop(3);
  EXPECT_EQ(handler_->run("hang").outcome,
            retry("it did not stop when asked to; signal 9 (Killed)", milliseconds(0)));
}

// The task's time is nearly over, and the worker would be killed with the program. For a task that
// needs more time than it gets, the pauses grow.
TEST_F(PipeEndTest, TheEndOfTheTasksTime) {
  begin_python(kHangs, {{"stop_grace", "1h"}, {"kill_after", "50ms"}});
  EXPECT_EQ(handler_->run("fine").outcome, success());
  test::Task task;
  task.payload = "hang";
  task.time_left = milliseconds(500);
  EXPECT_EQ(handler_->run(task).outcome, retry("its time limit expired; signal 9 (Killed)"));
}

TEST_F(PipeEndTest, AVerdictBetweenTheStopAndTheKillCounts) {
  begin_python(
      "for task in tasks():\n"
      "  assert json.loads(lines.readline()) == {'kind': 'stop', 'id': task['id'], 'reason': "
      "'time_limit'}\n"
      "  success(task)\n",
      {{"timeout", "50ms"}, {"kill_after", "1h"}});
  EXPECT_EQ(handler_->run("").outcome, success());
}

// It may have been killed by the kernel, or by an operator. No task is at fault.
TEST_F(PipeEndTest, ADeathBetweenTwoTasksCostsNoAttempt) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks():\n"
      "  success(task)\n"
      "  if task['payload'] == 'die': os._exit(1)\n"
      "  if task['payload'] == 'chat': say(kind='heartbeat', id=task['id']); note('0')\n");
  for (const char* payload : {"die", "fine", "chat"}) {
    EXPECT_EQ(handler_->run(payload).outcome, success());
    if (std::string(payload) == "die") {
      EXPECT_TRUE(eventually([this] { return gone(notes().at(0)); }));
    }
  }
  ASSERT_TRUE(eventually([this] { return notes().size() == 3; }));
  const auto ran = handler_->run("fine");
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(
      ran.log,
      "info the program 't' is started again; it had written unexpectedly between two tasks\n");
}

TEST_F(PipeEndTest, SixteenMiBGoInAndOut) {
  begin_python(
      "for task in tasks():\n"
      "  key = 'payload' if 'payload' in task else 'payload_base64'\n"
      "  say(kind='checkpoint', id=task['id'], **{key: task[key]})\n"
      "  assert json.loads(lines.readline())['kind'] == 'done'\n"
      "  success(task)\n");
  const std::string payload((std::size_t{16} << 20) - 1, '\xff');
  const auto ran = handler_->run(payload);
  EXPECT_EQ(ran.outcome, success());
  ASSERT_EQ(ran.checkpoints.size(), 1U);
  EXPECT_TRUE(ran.checkpoints[0] == payload);
}

TEST_F(PipeEndTest, AVerdictBeforeTheWholeTaskWasRead) {
  begin_python(
      "note(str(os.getpid())); hello()\n"
      "id = lines.read(200).split(b'\"id\":\"')[1].split(b'\"')[0].decode()\n"
      "say(kind='verdict', id=id, verdict='fail', reason='too large')\n"
      "time.sleep(600)\n",
      {{"kill_after", "50ms"}});
  const std::string payload(std::size_t{4} << 20, 'x');
  EXPECT_EQ(handler_->run(payload).outcome, fail("too large"));
  EXPECT_EQ(handler_->run(payload).outcome, fail("too large"));
  EXPECT_EQ(notes().size(), 2U) << "another program, as the first one was amid a line";
}

// Such a process holds the pipes open, but does not block the worker. A process that left the group
// is ended by the supervisor, with its worker.
TEST_F(PipeEndTest, AProcessThatItLeavesBehind) {
  begin_python(
      "for task in tasks():\n"
      "  ready, tell = os.pipe()\n"
      "  if os.fork() == 0:\n"
      "    if task['payload'] == 'away': os.setsid()\n"
      "    note(str(os.getpid())); os.write(tell, b'x')\n"
      "    time.sleep(600)\n"
      "  os.read(ready, 1)\n"
      "  os._exit(5)\n");
  EXPECT_EQ(handler_->run("near").outcome.reason, "it ended during the task; exit code 5");
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(handler_->run("away").outcome.reason, "it ended during the task; exit code 5");
  const std::string away = notes().back();
  EXPECT_FALSE(gone(away));
  support::send_signal(std::stoi(away), SIGKILL);
}

TEST_F(PipeEndTest, AProcessThatItLeavesBehindAfterItsVerdict) {
  begin_python(
      "for task in tasks():\n"
      "  if os.fork() == 0: note(str(os.getpid())); time.sleep(600)\n"
      "  success(task)\n",
      {{"max_tasks", "1"}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(handler_->run("").outcome, success());
  handler_.reset();
  EXPECT_TRUE(all_gone());
}

TEST_F(PipeEndTest, AnotherProgramAfterANumberOfTasks) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks(): success(task)\n",
      {{"max_tasks", "3"}});
  for (int i = 0; i < 7; ++i) EXPECT_EQ(handler_->run("").outcome, success());
  EXPECT_EQ(notes().size(), 3U);
}

// One that ends by itself could otherwise get the next task.
TEST_F(PipeEndTest, AnotherProgramAfterItsLastVerdict) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks():\n"
      "  say(kind='verdict', id=task['id'], verdict='success', last=task['payload'] == 'last')\n"
      "  if task['payload'] == 'last': time.sleep(0.2); os._exit(0)\n",
      {});
  EXPECT_EQ(handler_->run("").outcome, success());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(handler_->run("last").outcome, success());
  EXPECT_EQ(notes().size(), 3U);
}

TEST_F(PipeEndTest, AnotherProgramOnceItHasGrown) {
  begin_python(
      "note(str(os.getpid())); kept = []\n"
      "for task in tasks(): kept.append(os.urandom(int(task['payload']) << 20)); success(task)\n",
      {{"max_memory", "80"}});
  for (const char* mib : {"1", "1", "90", "1"}) {
    EXPECT_EQ(handler_->run(mib).outcome, success());
  }
  EXPECT_EQ(notes().size(), 2U);
}

TEST_F(PipeEndTest, AnotherProgramAtItsAge) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks(): success(task)\n",
      {{"max_age", "1h"}});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(handler_->run("").outcome, success());
  EXPECT_EQ(notes().size(), 1U);
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks(): success(task)\n",
      {{"max_age", "1ms"}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(handler_->run("").outcome, success());
  EXPECT_GE(notes().size(), 4U) << "an idle program that is too old gets no task either";
}

TEST_F(PipeEndTest, ItStartsWithTheThreadAndNotWithTheFirstTask) {
  begin_python(
      "hello(); note('ready')\n"
      "for line in lines: success(json.loads(line))\n");
  ASSERT_TRUE(eventually([this] { return notes() == Words{"ready"}; }));
  EXPECT_EQ(handler_->run("").outcome, success());
  EXPECT_EQ(notes(), Words{"ready"});
}

TEST_F(PipeEndTest, OneThatEndedBeforeItsFirstTaskIsStartedAgain) {
  begin_python(
      "note(str(os.getpid()))\n"
      "if len(open(os.environ['WORK'] + '/notes').readlines()) == 1: os._exit(1)\n"
      "for task in tasks(): success(task)\n");
  ASSERT_TRUE(eventually([this] { return !notes().empty() && gone(notes().at(0)); }));
  const auto ran = handler_->run("");
  EXPECT_EQ(ran.outcome, success());
  EXPECT_EQ(ran.log, "info the program 't' is started again; it had ended before its first task\n");
}

TEST_F(PipeEndTest, EachThreadHasItsOwn) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks(): success(task)\n");
  EXPECT_EQ(handler_->run("").outcome, success());
  std::thread([this] {
    EXPECT_EQ(handler_->run("").outcome, success());
    EXPECT_EQ(handler_->run("").outcome, success());
  }).join();
  EXPECT_EQ(notes().size(), 2U);
}

TEST_F(PipeEndTest, ItEndsByItselfWhenNoTaskWillCome) {
  begin_python(
      "for task in tasks(): success(task)\n"
      "note('left')\n");
  EXPECT_EQ(handler_->run("").outcome, success());
  handler_.reset();
  EXPECT_EQ(notes(), Words{"left"});
}

TEST_F(PipeEndTest, OneThatDoesNotLeaveIsKilled) {
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks(): success(task)\n"
      "time.sleep(600)\n",
      {{"kill_after", "50ms"}});
  EXPECT_EQ(handler_->run("").outcome, success());
  handler_.reset();
  EXPECT_TRUE(all_gone());
}

// A pool with `concurrency` runs it in a thread that ends before the handler does.
TEST_F(PipeEndTest, ItEndsInOrderBeforeTheThreadThatStartedIt) {
  begin_python(
      "for task in tasks(): success(task)\n"
      "note('left')\n");
  std::thread([this] { EXPECT_EQ(handler_->run("").outcome, success()); }).join();
  EXPECT_EQ(notes(), Words{"left"});
}

// ALLOT_TEST_PIPE_KILLS makes it long: kills at any moment of a task, or between two.
TEST_F(PipeEndTest, KillsAtAnyMomentCostOneAttemptEachAndNothingElse) {
  const int kills = support::environment_or("ALLOT_TEST_PIPE_KILLS", 12);
  begin_python(
      "note(str(os.getpid()))\n"
      "for task in tasks():\n"
      "  if task['payload'] == 'before': os.kill(os.getpid(), signal.SIGKILL)\n"
      "  if task['payload'] == 'half': os.write(4, b'{\"kind\":'); os.kill(os.getpid(), 9)\n"
      "  success(task)\n"
      "  if task['payload'] == 'after': os.kill(os.getpid(), signal.SIGKILL)\n");
  const char* const moments[] = {"before", "half", "after"};
  for (int i = 0; i < kills; ++i) {
    const std::string moment = moments[i % 3];
    const auto killed = handler_->run(moment).outcome;
    if (moment == "after") {
      EXPECT_EQ(killed, success());
      EXPECT_TRUE(eventually([this] { return gone(notes().back()); }));
    } else {
      EXPECT_EQ(killed, retry("it ended during the task; signal 9 (Killed)"));
    }
    EXPECT_EQ(handler_->run("fine").outcome, success());
  }
  EXPECT_EQ(notes().size(), static_cast<std::size_t>(kills) + 1);
}

// One program for many types: the handler is chosen by the exact type, then the longest prefix.
class PipeProgramsTest : public PipeTest {
 protected:
  [[nodiscard]] test::Settings program(const std::string& name,
                                       const std::vector<std::string>& types) const {
    const std::string file = folder_.write(
        name + ".py",
        "import json, os\n"
        "os.write(4, b'{\"kind\":\"hello\",\"protocol\":1}\\n')\n"
        "for line in os.fdopen(3, 'rb'):\n"
        "  task = json.loads(line)\n"
        "  os.write(4, (json.dumps({'kind': 'verdict', 'id': task['id'], 'verdict': 'fail',\n"
        "    'reason': '" +
            name + " ' + task['type']}) + '\\n').encode())\n");
    const std::string key = "programs." + name + ".";
    test::Settings all = {{key + "command", "/usr/bin/python3"}, {key + "command", file}};
    for (const std::string& type : types) all.emplace(key + "types", type);
    return all;
  }
};

TEST_F(PipeProgramsTest, TheExactTypeThenTheLongestPrefix) {
  test::Settings all = program("shop", {"shop.*", "mail"});
  all.merge(program("mail", {"shop.mail.*"}));
  all.merge(program("one", {"shop.mail.one"}));
  const auto runs = [&](const std::string& type, const std::string& in) {
    EXPECT_EQ(test::Handler(type, all).run("").outcome, fail(in + " " + type));
  };
  runs("shop.order", "shop");
  runs("mail", "shop");
  runs("shop.mail.two", "mail");
  runs("shop.mail.one", "one");
  runs("shop.mail", "shop");
  EXPECT_THROW(test::Handler("shopping", all), std::invalid_argument);
}

TEST_F(PipeProgramsTest, ATypeBelongsToOneProgram) {
  test::Settings all = program("shop", {"shop.*"});
  all.emplace("types.\"shop.*\".command", "/bin/true");
  try {
    const test::Handler handler("shop.x", all);
    ADD_FAILURE() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "[plugins.pipe.types.\"shop.*\"] type 'shop.*' belongs to "
                 "[plugins.pipe.programs.\"shop\"]");
  }
}

class PipeConfigTest : public PipeTest {
 protected:
  void refuses(const test::Settings& more, const std::string& words) {
    try {
      begin({"/bin/true"}, more);
      ADD_FAILURE() << words;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
};

TEST_F(PipeConfigTest, MistakesAreNamed) {
  refuses({{"comand", "x"}},
          "[plugins.pipe.types.\"t\"] unknown key 'comand'; did you mean 'command'?");
  refuses({{"shell", "x"}}, "[plugins.pipe.types.\"t\"] unknown key 'shell'; known: command, ");
  refuses({{"send.command", "x"}},
          "[plugins.pipe.types.\"t\"] a type with a dot needs quotes, as in "
          "[plugins.pipe.types.\"t.send\"]");
  refuses({{"hello_timeout", "10"}}, "hello_timeout = \"10\" is not a time; write");
  refuses({{"progress_every", "often"}}, "progress_every = \"often\" is not a time");
  refuses({{"max_tasks", "-1"}}, "max_tasks = \"-1\" is not a whole number from 0 (never) to");
  refuses({{"max_memory", "1GiB"}}, "max_memory = \"1GiB\" is not a whole number");
  refuses({{"max_age", "old"}}, "max_age = \"old\" is not a time");
  refuses({{"types", "x"}}, "[plugins.pipe.types.\"t\"] unknown key 'types'");
  refuses({{"directory", "var"}}, "directory must be an absolute path");
}

TEST_F(PipeConfigTest, AProgramForManyTypesNeedsThem) {
  try {
    const test::Handler handler("t", {{"programs.many.command", "/bin/true"}});
    ADD_FAILURE() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "[plugins.pipe.programs.\"many\"] types = [\"shop.*\", ...] is required: the "
                 "types that the program runs");
  }
}

}  // namespace
}  // namespace allot

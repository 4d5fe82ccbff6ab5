// SPDX-License-Identifier: Apache-2.0
// The daemon under a private supervisord, with the installed section.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <utility>

#include "e2e/daemon.h"
#include "support/text.h"

namespace allot::e2e::supervisord_test {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using support::ExitStatus;
using support::none_alive;
using support::read_file;

class Supervisord : public testing::Test {
 protected:
  // `log_file`: allotd writes its log itself.
  void start(bool log_file, const std::string& most_bytes = "50MB") {
    if (!log_file) {
      daemon_.configure("file = \"" + daemon_.folder() + "/log\"", "file = \"\"");
    }
    std::string program_section =
        read_file(std::string(ALLOT_SOURCE_DIR) + "/etc/supervisord.conf");
    const auto replace = [&](const std::string& from, const std::string& to) {
      program_section = support::replaced_first(std::move(program_section), from, to);
    };
    // Ends with supervisord, so that a failed test leaves no process behind.
    replace("command=/usr/sbin/allotd --config /etc/allot/allot.toml",
            "command=setpriv --pdeathsig TERM " + program("allotd") + " --config " +
                daemon_.config_file());
    replace("user=allot", std::string("user=") + getpwuid(getuid())->pw_name);
    replace("/var/log/supervisor/allotd.log", output());
    replace("maxbytes=50MB", "maxbytes=" + most_bytes);
    (void)own_.write("conf", "[unix_http_server]\nfile=" + (own_ / "s") +
                                 "\n[supervisord]\nnodaemon=true\nlogfile=" + (own_ / "main.log") +
                                 "\npidfile=" + (own_ / "pid") + "\nchildlogdir=" + own_.path() +
                                 "\n[rpcinterface:supervisor]\n"
                                 "supervisor.rpcinterface_factory="
                                 "supervisor.rpcinterface:make_main_rpcinterface\n"
                                 "[supervisorctl]\nserverurl=unix://" +
                                 (own_ / "s") + "\n" + program_section);
    process_ = std::make_unique<support::Process>(
        std::vector<std::string>{"supervisord", "-n", "-c", own_ / "conf"});
    ASSERT_TRUE(eventually([&] { return status().find("RUNNING") != std::string::npos; }))
        << story();
    ASSERT_TRUE(eventually([&] { return told().find("supervisor.ready") != std::string::npos; }))
        << story();
  }

  void TearDown() override {
    process_->signal(SIGTERM);
    EXPECT_TRUE(process_->wait(std::chrono::seconds(60))) << story();
  }

  [[nodiscard]] support::Finished control(std::vector<std::string> words) const {
    words.insert(words.begin(), {"supervisorctl", "-c", own_ / "conf"});
    return support::run_program(words);
  }
  [[nodiscard]] std::string status() const { return control({"status", "allotd"}).out; }
  [[nodiscard]] pid_t pid() const { return std::atoi(control({"pid", "allotd"}).out.c_str()); }

  [[nodiscard]] std::string output() const { return own_ / "allotd.log"; }
  // All lines of allotd, in whichever file.
  [[nodiscard]] std::string told() const {
    std::string text;
    for (int i = 8; i > 0; --i) text += read_file(output() + "." + std::to_string(i));
    return text + read_file(output()) + read_file(daemon_.folder() + "/log");
  }
  [[nodiscard]] std::string story() const {
    return process_->err() + read_file(own_ / "main.log") + told();
  }
  [[nodiscard]] bool tells(const std::string& text) const {
    return eventually([&] { return told().find(text) != std::string::npos; });
  }

  Daemon daemon_{{.workers = 2, .start = false}};
  support::TempDir own_;
  std::unique_ptr<support::Process> process_;
};

TEST_F(Supervisord, StopDrains) {
  start(false);
  (void)daemon_.submit("test.gate", "success " + daemon_.gate());
  ASSERT_TRUE(eventually([&] { return daemon_.busy_workers().size() == 1; })) << story();
  const auto workers = daemon_.workers();
  support::Process stop({"supervisorctl", "-c", own_ / "conf", "stop", "allotd"});
  ASSERT_TRUE(tells("supervisor.phase phase=stopping")) << story();
  daemon_.open_gate();
  ASSERT_TRUE(stop.wait(std::chrono::seconds(60))) << story();
  EXPECT_NE(stop.out().find("allotd: stopped"), std::string::npos) << stop.out() << story();
  EXPECT_TRUE(daemon_.drained()) << "the task that ran was finished" << story();
  EXPECT_EQ(daemon_.count("task_attempt"), 0U) << story();
  EXPECT_TRUE(none_alive(workers));
  EXPECT_TRUE(tells("supervisor.exit code=0")) << story();
  EXPECT_NE(status().find("STOPPED"), std::string::npos) << status();
  EXPECT_NE(control({"start", "allotd"}).out.find("allotd: started"), std::string::npos) << story();
}

TEST_F(Supervisord, AKilledSupervisorIsStartedAgain) {
  start(false);
  const pid_t first = pid();
  const auto workers = daemon_.workers();
  support::send_signal(first, SIGKILL);
  ASSERT_TRUE(eventually([&] {
    return pid() > 0 && pid() != first && status().find("RUNNING") != std::string::npos;
  })) << story();
  daemon_.submit_many("test.write", {"again"});
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 1; })) << story();
  EXPECT_TRUE(eventually([&] { return none_alive(workers); })) << "they left with the former one";
}

TEST_F(Supervisord, RotatesWhatGoesToStandardError) {
  start(false, "20KB");
  daemon_.submit_many("test.ok", std::vector<std::string>(800, ""));
  ASSERT_TRUE(eventually([&] { return daemon_.drained(); })) << story();
  ASSERT_TRUE(eventually([&] { return fs::exists(output() + ".2"); })) << story();
  EXPECT_TRUE(eventually([&] { return support::times_in(told(), "task.ran") == 800; }))
      << "a line was lost";
}

TEST_F(Supervisord, PassesTheSignalsOn) {
  start(true);
  const pid_t before = pid();
  fs::rename(daemon_.folder() + "/log", daemon_.folder() + "/log.1");
  EXPECT_EQ(control({"signal", "USR1", "allotd"}).status, (ExitStatus{0, 0}));
  EXPECT_TRUE(tells("supervisor log.reopened")) << story();
  EXPECT_EQ(control({"signal", "USR2", "allotd"}).status, (ExitStatus{0, 0}));
  EXPECT_TRUE(tells("supervisor.start pid=" + std::to_string(before))) << story();
  EXPECT_EQ(control({"signal", "HUP", "allotd"}).status, (ExitStatus{0, 0}));
  EXPECT_TRUE(tells("pool.reload")) << story();
  EXPECT_EQ(pid(), before);
}

}  // namespace
}  // namespace allot::e2e::supervisord_test

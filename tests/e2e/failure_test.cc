// SPDX-License-Identifier: Apache-2.0
// A broken handler in each language and through each interface: the reported error, and groups that
// distinguish its faults, in whatever release it died.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "e2e/daemon.h"
#include "support/http_target.h"

namespace allot::e2e::failure_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using support::eventually;

const std::string kHelpers = ALLOT_SOURCE_DIR "/plugins/pipe/helpers";

// A program that fails in one of two functions, selected by its input. With an argument it stays,
// for the plugin pipe.
struct Language {
  std::string name;
  const char* program;
  const char* file;
  const char* comment;
  const char* script;
};
const Language kLanguages[] = {
    {"python", "/usr/bin/python3", "mail.py", "#", R"(
import sys
def send(who):
    users = {}
    return users[who]
def bill(who):
    return {}["invoice of " + who]
def handle(what):
    send("ada") if what == "send" else bill("ada")
if len(sys.argv) > 1:
    sys.path.insert(0, sys.argv[1])
    import allot_pipe
    allot_pipe.run(lambda task: handle(task.payload))
else:
    handle(sys.stdin.read())
)"},
    {"php", "/usr/bin/php", "mail.php", "//", R"(
function send($who) { throw new RuntimeException("no user $who"); }
function bill($who) { throw new RuntimeException("no invoice of $who"); }
function handle($what) { $what === 'send' ? send('ada') : bill('ada'); }
if (isset($argv[1])) {
    require $argv[1] . '/allot_pipe.php';
    AllotPipe\run(function ($task) { handle($task->payload); });
} else {
    handle(stream_get_contents(STDIN));
}
)"},
    {"ruby", "/usr/bin/ruby", "mail.rb", "#", R"(
def send_mail(who) = raise(ArgumentError, "no user #{who}")
def bill(who) = raise(ArgumentError, "no invoice of #{who}")
def handle(what) = what == 'send' ? send_mail('ada') : bill('ada')
if ARGV[0]
  require "#{ARGV[0]}/allot_pipe"
  AllotPipe.run { |task| handle(task.payload) }
else
  handle($stdin.read)
end
)"},
    {"node", "/usr/bin/node", "mail.js", "//", R"(
class NoUser extends Error {}
function send(who) { throw new NoUser(`no user ${who}`); }
function bill(who) { return JSON.parse(`{no invoice of ${who}`); }
function handle(what) { what === 'send' ? send('ada') : bill('ada'); }
if (process.argv[2]) {
  require(process.argv[2] + '/allot_pipe.js').run((task) => handle(task.payload));
} else {
  handle(require('fs').readFileSync(0, 'utf8'));
}
)"},
    {"perl", "/usr/bin/perl", "mail.pl", "#", R"(
use strict; use warnings;
sub send_mail { my ($who) = @_; die "no user $who" }
sub bill { my ($who) = @_; die "no invoice of $who" }
sub handle { my ($what) = @_; $what eq 'send' ? send_mail('ada') : bill('ada') }
if (@ARGV) {
    require "$ARGV[0]/AllotPipe.pm";
    AllotPipe::run(sub { my ($task) = @_; handle($task->{payload}) });
} else {
    local $/; handle(<STDIN>);
}
)"},
};

// Report of a task of that type and payload.
struct Expected {
  const char* type;
  const char* payload;
  const char* message;  // or its beginning
  const char* fault;
  const char* line;  // in `task show`
};
const Expected kExpected[] = {
    {"python.exec", "send", "KeyError: 'ada'", "KeyError in send (app/mail.py)",
     "    return users[who]\n"},
    {"python.exec", "bill", "KeyError: 'invoice of ada'", "KeyError in bill (app/mail.py)",
     "    return {}[\"invoice of \" + who]\n"},
    {"python.pipe", "send", "KeyError: 'ada'", "KeyError in send (app/mail.py)",
     "    return users[who]\n"},
    {"python.pipe", "bill", "KeyError: 'invoice of ada'", "KeyError in bill (app/mail.py)",
     "    return {}[\"invoice of \" + who]\n"},
    {"python.http", "send", "KeyError: 'ada'", "KeyError in send (app/mail.py)",
     "    return users[who]\n"},
    {"python.http", "bill", "KeyError: 'invoice of ada'", "KeyError in bill (app/mail.py)",
     "    return {}[\"invoice of \" + who]\n"},
    {"php.exec", "send", "RuntimeException: no user ada", "RuntimeException in send (app/mail.php)",
     "app/mail.php:"},
    {"php.exec", "bill", "RuntimeException: no invoice of ada",
     "RuntimeException in bill (app/mail.php)", "): bill()\n"},
    {"php.pipe", "send", "RuntimeException: no user ada", "RuntimeException in send (app/mail.php)",
     "app/mail.php:"},
    {"php.pipe", "bill", "RuntimeException: no invoice of ada",
     "RuntimeException in bill (app/mail.php)", "): bill()\n"},
    {"php.http", "send", "RuntimeException: no user ada", "RuntimeException in send (app/mail.php)",
     "app/mail.php:"},
    {"php.http", "bill", "RuntimeException: no invoice of ada",
     "RuntimeException in bill (app/mail.php)", "): bill()\n"},
    {"ruby.exec", "send", "ArgumentError: no user ada", "ArgumentError in send_mail (app/mail.rb)",
     "app/mail.rb:"},
    {"ruby.exec", "bill", "ArgumentError: no invoice of ada", "ArgumentError in bill (app/mail.rb)",
     "in `bill': no invoice of ada (ArgumentError)\n"},
    {"ruby.pipe", "send", "ArgumentError: no user ada", "ArgumentError in send_mail (app/mail.rb)",
     "app/mail.rb:"},
    {"ruby.pipe", "bill", "ArgumentError: no invoice of ada", "ArgumentError in bill (app/mail.rb)",
     "in `bill': no invoice of ada (ArgumentError)\n"},
    {"ruby.http", "send", "ArgumentError: no user ada", "ArgumentError in send_mail (app/mail.rb)",
     "app/mail.rb:"},
    {"ruby.http", "bill", "ArgumentError: no invoice of ada", "ArgumentError in bill (app/mail.rb)",
     "in `bill': no invoice of ada (ArgumentError)\n"},
    {"node.exec", "send", "NoUser: no user ada", "NoUser in send (app/mail.js)", "    at send ("},
    {"node.exec", "bill", "SyntaxError: ", "SyntaxError in bill (app/mail.js)",
     "    at JSON.parse (<anonymous>)\n"},
    {"node.pipe", "send", "NoUser: no user ada", "NoUser in send (app/mail.js)", "    at send ("},
    {"node.pipe", "bill", "SyntaxError: ", "SyntaxError in bill (app/mail.js)",
     "    at JSON.parse (<anonymous>)\n"},
    {"node.http", "send", "NoUser: no user ada", "NoUser in send (app/mail.js)", "    at send ("},
    {"node.http", "bill", "SyntaxError: ", "SyntaxError in bill (app/mail.js)",
     "    at JSON.parse (<anonymous>)\n"},
    {"perl.exec", "send", "no user ada at ", "no user ada (app/mail.pl)", "no user ada at "},
    {"perl.exec", "bill", "no invoice of ada", "no invoice of ada (app/mail.pl)",
     "no invoice of ada at "},
    {"perl.pipe", "send", "no user ada at ", "no user ada in main::send_mail (app/mail.pl)",
     "no user ada at "},
    {"perl.pipe", "bill", "no invoice of ada", "no invoice of ada in main::bill (app/mail.pl)",
     "no invoice of ada at "},
    {"perl.http", "send", "no user ada at ", "no user ada (app/mail.pl)", "no user ada at "},
    {"perl.http", "bill", "no invoice of ada", "no invoice of ada (app/mail.pl)",
     "no invoice of ada at "},
    {"cpp.exec", "send", "std::out_of_range: no user ada", "std::out_of_range: no user ada",
     "what():  no user ada\n"},
    {"cpp.exec", "bill", "std::out_of_range: no invoice of ada",
     "std::out_of_range: no invoice of ada", "what():  no invoice of ada\n"},
    {"test.throw", "no user ada", "std::runtime_error: no user ada",
     "std::runtime_error: no user ada", "exception: std::runtime_error: no user ada"},
    {"test.throw", "no invoice of ada", "std::runtime_error: no invoice of ada",
     "std::runtime_error: no invoice of ada", "exception: std::runtime_error: no invoice of ada"},
};

std::string place_of(const json& one) {
  return one["type"].get<std::string>() + " " + one["fault"].get<std::string>();
}

// Programs of a deployment, in a folder behind the link `current`.
class FailureTest : public testing::Test {
 protected:
  FailureTest() {
    fs::copy_file(ALLOT_PIPE_PLUGIN, plugins_ / "pipe.so");
    fs::copy_file(ALLOT_HTTP_PLUGIN, plugins_ / "http.so");
    fs::copy_file(exec_plugin(), plugins_ / "exec.so");
    fs::copy_file(probe_folder() + "/probe.so", plugins_ / "probe.so");
    deploy("20261127", 0);
  }

  // Adds lines above the code, like another release.
  void deploy(const std::string& release, int lines) const {
    for (const Language& language : kLanguages) {
      const std::string folder = language.name + "/" + release + "/app";
      fs::create_directories(work_ / folder);
      std::string text = language.name == "php" ? "<?php\n" : "";
      for (int i = 0; i < lines; ++i) text += std::string(language.comment) + " one more\n";
      (void)work_.write(folder + "/" + language.file, text + language.script);
      const std::string link = work_ / (language.name + "/current");
      fs::remove(link);
      fs::create_directory_symlink(release, link);
    }
  }
  [[nodiscard]] std::string job(const Language& language) const {
    return work_ / (language.name + "/current/app/" + language.file);
  }

  [[nodiscard]] std::string types() const {
    std::string text = "[plugins.exec.types.\"cpp.exec\"]\ncommand = [\"" ALLOT_BROKEN "\"]\n";
    for (const Language& language : kLanguages) {
      const std::string start =
          "command = [\"" + std::string(language.program) + "\", \"" + job(language) + "\"";
      text += "[plugins.exec.types.\"" + language.name + ".exec\"]\n" + start + "]\n";
      text += "[plugins.pipe.types.\"" + language.name + ".pipe\"]\n" + start + ", \"" + kHelpers +
              "\"]\nmax_tasks = 1\nenvironment = { PYTHONDONTWRITEBYTECODE = \"1\" }\n";
    }
    return text;
  }

  // Answers like an application that shows its errors: with the program's output.
  [[nodiscard]] support::HttpTarget::Script application() const {
    return [this](support::HttpTarget::Peer& peer) {
      while (const auto request = peer.request()) {
        for (const Language& language : kLanguages) {
          if (request->field("X-Allot-Type") != language.name + ".http") continue;
          const auto done =
              support::run_program({language.program, job(language)}, {.input = request->body});
          peer.answer(500, done.out + done.err);
        }
      }
    };
  }
  static std::string targets(const support::HttpTarget& target) {
    std::string text = "[plugins.http]\nallow = [\"" + target.origin() + "\"]\n";
    for (const Language& language : kLanguages) {
      text += "[plugins.http.types.\"" + language.name + ".http\"]\nurl = \"" + target.origin() +
              "/\"\n";
    }
    return text;
  }

  support::TempDir plugins_;
  support::TempDir work_;
};

TEST_F(FailureTest, SaysWhatFailedAndWhere) {
  support::HttpTarget target(application());
  // One worker: a program that another one started before the deployment would show lines of the
  // new file.
  Daemon daemon({.workers = 1,
                 .queue_keys = "max_attempts = 1",
                 .more = types() + targets(target),
                 .plugins = plugins_.path()});
  std::vector<std::pair<std::string, const Expected*>> expected;
  for (int release = 0; release < 2; ++release) {
    if (release == 1) deploy("20261128", 2);
    for (const Expected& each : kExpected) {
      expected.emplace_back(daemon.submit(each.type, each.payload), &each);
    }
    ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == expected.size(); },
                           std::chrono::seconds(60)))
        << daemon.log();
  }
  std::map<std::string, std::string> groups;
  const json listed = json::parse(daemon.must({"dead", "groups", "--limit", "1000", "--json"}));
  for (const json& group : listed) {
    EXPECT_EQ(group["tasks"], 2) << "one of each release: " << group;
    groups[place_of(group)] = group["group"];
  }
  EXPECT_EQ(listed.size(), std::size(kExpected)) << "two faults of a type share a group";
  for (const auto& [place, group] : groups) std::printf("%s  %s\n", group.c_str(), place.c_str());
  for (const auto& [id, wanted] : expected) {
    const json task = daemon.task(id);
    EXPECT_EQ(task["error"].get<std::string>().find(wanted->message), 0U) << task;
    EXPECT_EQ(task["fault"], wanted->fault) << task;
    const std::string shown = daemon.must({"task", "show", id});
    EXPECT_NE(shown.find(wanted->line), std::string::npos) << shown;
    EXPECT_TRUE(daemon.logged("task.dead task=" + id)) << id;
  }
  EXPECT_TRUE(daemon.logged("error=\"KeyError: 'ada'\" detail=\"exit code 1\\nTraceback "));
  const std::string list = daemon.must({"dead", "list"});
  for (const Expected& each : kExpected) {
    EXPECT_NE(list.find(each.message), std::string::npos) << each.message << "\n" << list;
  }
}

}  // namespace
}  // namespace allot::e2e::failure_test

// SPDX-License-Identifier: Apache-2.0
// Executes every command of the documents: here, in the order of the documents and in one shell, or
// in the test named by kElsewhere. A new command is executed without a line here.
#include "support/document.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <utility>

#include "base/unique_fd.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/text.h"

namespace allot::e2e::document_test {
namespace {

using support::read_file;

struct Command {
  std::string document;
  std::size_t line = 0;  // in the document, from 1
  std::string text;
  std::string answer{};   // first line of the output that the document shows; empty: none
  std::size_t lines = 0;  // number of these lines

  // An error is one line, and nothing else is printed.
  [[nodiscard]] bool refused() const { return lines == 1 && answer.rfind("allot: ", 0) == 0; }
  [[nodiscard]] std::string name() const { return document + ":" + std::to_string(line); }
};

bool starts_with(const std::string& text, const std::string& part) {
  return text.rfind(part, 0) == 0;
}

// Commands of the blocks ```sh, and commands after "$ " in the blocks ```console.
std::vector<Command> commands_of(const std::string& document, const std::string& text) {
  std::vector<Command> commands;
  std::istringstream lines(text);
  std::string language;
  std::string here;  // end of a here document, while in one
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(0, line.find_first_not_of(' '));
    if (starts_with(line, "```")) {
      language = language.empty() ? line.substr(3) + " " : "";
    } else if (!here.empty()) {
      commands.back().text += "\n" + line;
      if (line == here) here.clear();
    } else if (language == "sh ") {
      if (line.empty() || line[0] == '#') continue;
      commands.push_back({document, number, line});
      if (const auto at = line.find("<<"); at != std::string::npos) here = line.substr(at + 2);
    } else if (language == "console ") {
      if (starts_with(line, "$ ")) {
        commands.push_back({document, number, line.substr(2)});
      } else if (!commands.empty() && commands.back().lines++ == 0) {
        commands.back().answer = line;
      }
    }
  }
  return commands;
}

std::vector<Command> all_commands() {
  std::vector<std::string> documents;
  for (const auto& entry : std::filesystem::directory_iterator(ALLOT_SOURCE_DIR "/docs")) {
    if (entry.path().extension() == ".md") {
      documents.push_back("docs/" + entry.path().filename().string());
    }
  }
  // The first steps come first: they leave a configuration for the other documents.
  const std::string first = "docs/first-steps.md";
  std::sort(documents.begin(), documents.end(), [&](const auto& one, const auto& other) {
    return std::pair(one != first, one) < std::pair(other != first, other);
  });
  documents.insert(documents.begin(), "README.md");
  std::vector<Command> all;
  for (const std::string& document : documents) {
    for (Command& command : commands_of(document, read_file(ALLOT_SOURCE_DIR "/" + document))) {
      all.push_back(std::move(command));
    }
  }
  return all;
}

// Not executed here, but in `witness`, which contains `words`.
struct Elsewhere {
  const char* document;
  const char* command;  // its beginning
  const char* witness;
  const char* words;
};
const Elsewhere kElsewhere[] = {
    // They build the whole tree.
    {"README.md", "./scripts/demo", "tests/nightly/fresh", "step demo"},
    {"README.md", "./scripts/test", "tests/nightly/fresh", "step test"},
    {"docs/first-steps.md", "cmake --preset release", "scripts/demo", "build_release"},
    {"docs/install.md", "cmake --preset package", "tests/nightly/packages", "configure package"},
    {"docs/install.md", "cmake --install build/package", "tests/nightly/packages", "cpack"},
    {"docs/install.md", "cpack --preset package", "tests/nightly/packages", "cpack"},
    // They need a connector that Debian 12 does not have.
    {"docs/install.md", "cmake --preset dev -B build/mysql", "tests/nightly/next",
     "mysql-connector"},
    {"docs/install.md", "cmake --build build/mysql", "tests/nightly/next", "build/mysql"},
    // A release is made by a person.
    {"docs/install.md", "export SOURCE_DATE_EPOCH", "packaging/CMakeLists.txt",
     "SOURCE_DATE_EPOCH"},
    {"docs/install.md", "cmake --build --preset package", "tests/nightly/packages", "cpack"},
    // They need a dedicated machine.
    {"docs/install.md", "apt-get install", "tests/nightly/packages", "apt install"},
    {"docs/install.md", "chown root:allot", "tests/nightly/packages", "root:allot 640"},
    {"docs/install.md", "systemctl enable", "tests/nightly/packages", "systemctl enable --now"},
    // It needs a gateway with this token.
    {"docs/cli.md", "allot gateway code ann", "tests/e2e/ui_test.cc", "\"code\", \"reader\""},
    // Measurements: they take a minute, and their limits apply to a release build.
    {"docs/benchmarks.md", "allot bench drain", "tests/bench/drain_test.cc", "\"drain\""},
    {"docs/benchmarks.md", "allot bench counts", "tests/bench/counts_test.cc", "\"counts\""},
    {"docs/benchmarks.md", "allot bench fence", "tests/bench/fence_test.cc", "\"fence\""},
    {"docs/benchmarks.md", "allot bench idle", "tests/bench/idle_test.cc", "\"idle\""},
    {"docs/benchmarks.md", "allot bench latency", "tests/bench/latency_test.cc", "\"latency\""},
    {"docs/benchmarks.md", "allot bench wake", "tests/bench/wake_test.cc", "\"wake\""},
    {"docs/benchmarks.md", "allot bench fireworq", "tests/bench/worker_test.cc", "\"fireworq\""},
    {"docs/benchmarks.md", "allot bench http-worker", "tests/bench/worker_test.cc",
     "\"http-worker\""},
    {"docs/benchmarks.md", "allot bench pipe-worker", "tests/bench/worker_test.cc",
     "\"pipe-worker\""},
    {"docs/benchmarks.md", "allot bench http", "tests/bench/http_test.cc", "\"http\""},
    {"docs/benchmarks.md", "tests/nightly/footprint", "tests/nightly/footprint",
     "supervisor, resident"},
    // They need a gateway.
    {"docs/http.md", "curl", "tests/e2e/gateway_document_test.cc", "docs/http.md"},
    {"docs/http.md", "seq 1207", "tests/e2e/gateway_document_test.cc", "docs/http.md"},
    // They need an installed Allot, an account, a terminal.
    {"docs/client.md", "g++", "tests/consumer/client_test.cc", "first_example(kDocument, \"sh\")"},
    {"docs/plugins.md", "allot plugin new", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "cmake -S hello", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "cmake --build hello", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "ctest --test-dir hello", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "allot plugin check hello", "tests/nightly/first-plugin",
     "docs/plugins.md"},
    {"docs/plugins.md", "cmake --install hello", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "kill -HUP \"$allotd\"", "tests/nightly/first-plugin", "docs/plugins.md"},
    {"docs/plugins.md", "allot submit default hello Ada", "tests/nightly/first-plugin",
     "good day, Ada"},
    {"docs/plugins.md", "cmake -B build", "tests/consumer/consumer_test.cc", "build(project)"},
    {"docs/plugins.md", "cmake --install build", "tests/consumer/consumer_test.cc", "--install"},
    {"docs/cli.md", "allot drain", "tests/e2e/drain_test.cc", "\"drain\""},
    {"docs/cli.md", "allot queue move", "tests/e2e/queue_change_test.cc", "\"move\""},
    {"docs/cli.md", "allot task cancel 0840dqg2v5n80r04", "tests/e2e/cancel_test.cc",
     "\"cancel\", id, \"--reason\""},
    {"docs/cli.md", "allot plugin check", "tests/consumer/consumer_test.cc", "\"check\""},
    {"docs/cli.md", "allot dead retry --group", "tests/db/cli/dead_test.cc", "Continue? [y/N]"},
    {"docs/database.md", "allot check", "tests/e2e/rights_test.cc", "GRANT "},
    // They need a cluster.
    {"docs/cli.md", "allot promote", "tests/e2e/failover_document_test.cc", "\"promote\""},
    {"docs/failover.md", "allot doctor", "tests/e2e/failover_document_test.cc", "\"doctor\""},
    {"docs/failover.md", "allot promote", "tests/e2e/failover_document_test.cc", "\"promote\""},
    {"docs/plugins.md", "allot-worker --run", "tests/unit/cli/exit_codes_test.cc", "\"--run\""},
    {"docs/plugins.md", "gdb --args allot-worker", "tests/unit/cli/exit_codes_test.cc",
     "\"--run\""},
};

const Elsewhere* elsewhere(const Command& command) {
  for (const Elsewhere& entry : kElsewhere) {
    if (command.document == entry.document && starts_with(command.text, entry.command)) {
      return &entry;
    }
  }
  return nullptr;
}

// Actions of a reader, or waits, before and after the command.
struct Step {
  const char* document;
  const char* command;  // beginning of the command or of its answer
  const char* before;
  const char* after;
};
const Step kSteps[] = {
    {"docs/first-steps.md", "allotd", "", "daemon=$!; ready $said"},
    {"docs/first-steps.md", "g++", "cp hello.example hello.cc", ""},
    {"docs/first-steps.md", "allot --embedded $t/allot-db submit default hello", "",
     "until_done --embedded $t/allot-db"},
    // A worker that is not replaced yet lacks this handler, and puts the task back for some time.
    {"docs/first-steps.md", "kill -HUP", "", "poll left 4"},
    {"docs/first-steps.md", "kill %1", "", "wait $daemon"},
    {"docs/cli.md", "allot submit mail mail.send", "start_daemon",
     "id=$(command allot submit mail mail.send x)"},
    {"docs/cli.md", "submitted",
     "seq 2500 | sed 's/.*/{\"queue\":\"mail\",\"type\":\"t\"}/' >tasks.ndjson", ""},
    {"docs/cli.md", "allot: tasks.ndjson", "sed -i '1207s/}/,\"payloda\":1}/' tasks.ndjson", ""},
    {"docs/cli.md", "queue mail is paused since",
     "command allot queue pause mail --reason 'the mail server moves'", ""},
    {"docs/exec.md", "allot submit", "echo jpeg >photo.jpg", "empty default"},
    {"docs/install.md", "allot submit", "", "empty default"},
};

const Step kNoStep{"", "", "", ""};
const Step& step_of(const Command& command) {
  for (const Step& step : kSteps) {
    if (command.document == step.document &&
        (starts_with(command.text, step.command) || starts_with(command.answer, step.command))) {
      return step;
    }
  }
  return kNoStep;
}

// Replaces the names in the documents by names of this test.
std::string here(std::string text) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"~/allot", "$t/allot"},
      {"$(pidof allotd)", "$daemon"},
      {"/usr/local/lib/allot/plugins", "$t/build/release/plugins"},
      {"/etc/allot/", "$t/"},
      {"0840dqg2v5n80r00", "$id"}};
  for (const auto& [name, ours] : kNames) {
    text = support::replaced(std::move(text), name, ours);
  }
  return text;
}

// The reader. A command that finds no database yet is repeated, as a reader would; descriptor 9
// ends with this test, and then the daemon ends as well. %1 is the daemon.
constexpr const char* kReader = R"sh(
set -m
t=$PWD
export TERM=dumb ALLOT_CONFIG=$t/allot.toml
poll() {
  local left=1200
  until "$@"; do
    left=$((left - 1)); [ $left -gt 0 ] || { echo "gave up: $*"; return 1; }
    sleep 0.05
  done
}
answered() { status=0; command allot "$@" >answer 2>&1 || status=$?; [ $status -ne 69 ]; }
allot() { poll answered "$@"; cat answer; return $status; }
none_left() { [ "$(command allot "$@" tasks | wc -l)" -eq 1 ]; }
until_done() { poll none_left "$@" && [ "$(command allot "$@" dead list | wc -l)" -eq 1 ]; }
no_task_in() { [ "$(command allot tasks --queue "$1" | wc -l)" -eq 1 ]; }
empty() { poll no_task_in "$1"; }
ready() { log=$1; echo $daemon >daemon; poll grep -q supervisor.ready "$log"; }
left() { [ "$(grep -c worker.stopped "$log")" -ge "$1" ]; }
start_daemon() {
  cat >allot.toml <<END
[database]
embedded = "$t/allot-db"
[queues.default]
[queues.mail]
[queues.heavy]
[queues.ledger]
placement = "ordered"
[pools.default]
size = 2
[plugins]
folder = "$t/build/release/plugins"
[plugins.exec.types.thumbs]
command = ["/bin/true"]
[plugins.exec.types."thumbs.make"]
command = ["/bin/true"]
[plugins.exec.types."report.nightly"]
command = ["/bin/true"]
END
  allotd 2>log & daemon=$!
  ready log
}
stop() { [ -z "$daemon" ] || kill -TERM $daemon; wait; }
trap stop EXIT
(read -r -u 9; kill -KILL "$(cat daemon)") &
disown
)sh";

class DocumentTest : public testing::Test {
 protected:
  // A clone in its state after the build, as far as the commands use it.
  void make_clone() const {
    namespace fs = std::filesystem;
    fs::create_directories(folder_ / "build/release/plugins");
    fs::create_directory_symlink(ALLOT_PROGRAMS, folder_ / "build/release/bin");
    fs::create_directory_symlink(ALLOT_SOURCE_DIR "/plugin-api", folder_ / "plugin-api");
    std::istringstream plugins(ALLOT_PLUGIN_FILES);
    for (std::string plugin; plugins >> plugin;) {
      fs::copy(plugin, (folder_ / "build/release/plugins/") + fs::path(plugin).filename().string());
    }
  }
  [[nodiscard]] std::string path(const char* kind, std::size_t number) const {
    return folder_ / (kind + std::to_string(number));
  }
  // One file for the output of each command, and one for its exit code.
  [[nodiscard]] std::string script(const std::vector<Command>& commands) const {
    std::string text = kReader;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const Step& step = step_of(commands[i]);
      text += "said=" + path("said", i) + "\n" + step.before + "\n{\n" + here(commands[i].text) +
              "\n} >$said 2>&1\necho $? >" + path("exit", i) + "\n" + step.after + "\n";
    }
    return text;
  }

  support::TempDir folder_;
  support::Janitor janitor_{folder_.path()};
};

// Words with digits change every day (ids, times, counts), and paths with the machine.
std::string without_numbers(const std::string& line) {
  if (starts_with(line, "# /")) return "# a file";  // and who named it
  const std::string marked =
      std::regex_replace(line, std::regex("\\S*[0-9]\\S*|(^| )/\\S*"), "$1#");
  const std::string single = std::regex_replace(marked, std::regex("# ([a-z]+)s\\b"), "# $1");
  return std::regex_replace(single, std::regex(" +"), " ");
}

// Without the warning that this host's daemon has no handler of a type: the reader has one.
std::string first_line(const std::string& text) {
  const bool warned = text.starts_with("allot: warning: this host's daemon has no handler");
  const std::size_t begin = warned ? text.find('\n') + 1 : 0;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(DocumentTest, EveryCommandIsExecuted) {
  if (!std::string(ALLOT_SANITIZERS).empty()) {
    GTEST_SKIP() << "the reader's compiler makes plugins without a sanitizer";
  }
  std::vector<Command> commands;
  for (Command& command : all_commands()) {
    if (elsewhere(command) == nullptr) commands.push_back(std::move(command));
  }
  ASSERT_GT(commands.size(), 25U);
  make_clone();
  (void)folder_.write("hello.example",
                      support::first_example(ALLOT_SOURCE_DIR "/docs/first-steps.md", "cpp"));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  support::ProcessOptions options;
  options.directory = folder_.path();
  const char* path_here = getenv("PATH");
  options.environment = {std::string("PATH=") +
                         (path_here != nullptr ? path_here : "/usr/bin:/bin") +
                         ":/usr/sbin:/sbin:" ALLOT_PROGRAMS};
  options.descriptors = {{read_end.get(), 9}};
  const auto done = support::run_program({"bash", folder_.write("script", script(commands))},
                                         options, std::chrono::seconds(300));
  for (std::size_t i = 0; i < commands.size(); ++i) {
    SCOPED_TRACE(commands[i].name() + ": " + commands[i].text);
    const std::string said = read_file(path("said", i));
    const std::string code = read_file(path("exit", i));
    EXPECT_EQ(code != "0\n", commands[i].refused()) << "exit code " << code << said;
    if (commands[i].answer.empty()) continue;
    EXPECT_EQ(without_numbers(first_line(said)), without_numbers(commands[i].answer)) << said;
  }
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.out << done.err;
}

// An unneeded entry, or one without its witness, must be removed.
TEST(DocumentListTest, CommandsExecutedElsewhereExist) {
  const auto commands = all_commands();
  for (const Elsewhere& entry : kElsewhere) {
    EXPECT_TRUE(std::any_of(commands.begin(), commands.end(),
                            [&](const Command& command) { return elsewhere(command) == &entry; }))
        << entry.document << " has no command " << entry.command;
    const std::string witness = read_file(ALLOT_SOURCE_DIR "/" + std::string(entry.witness));
    EXPECT_NE(witness.find(entry.words), std::string::npos) << entry.witness << ": " << entry.words;
  }
}

TEST(DocumentListTest, CommandsAreFound) {
  const auto found = commands_of("d",
                                 "a\n```sh\n# c\nx <<END\n y\nEND\nz   # why\n```\n```toml\nn = 1\n"
                                 "```\n  ```console\n  $ b\n  said\n  more\n  $ c\n  ```\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].text, "x <<END\ny\nEND");
  EXPECT_EQ(found[1].text, "z   # why");
  EXPECT_EQ(found[2].text, "b");
  EXPECT_EQ(found[2].answer, "said");
  EXPECT_EQ(found[2].lines, 2U);
  EXPECT_EQ(found[2].name(), "d:13");
  EXPECT_EQ(found[3].answer, "");
}

}  // namespace
}  // namespace allot::e2e::document_test

// SPDX-License-Identifier: Apache-2.0
#include "unit/supervisor/allotd.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "support/eventually.h"

namespace allot::supervisor {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

}  // namespace

Allotd::Allotd(const std::string& script, std::vector<std::string> environment)
    : environment_(std::move(environment)) {
  std::istringstream words(script);
  for (std::string word; words >> word;) {
    script_[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  std::filesystem::create_directory(folder_ / "bin");
  install("allotd", ALLOT_ALLOTD);
  install("allot-worker", ALLOT_SCRIPTED_WORKER);
  install("allot-embedded", ALLOT_SCRIPTED_WORKER);
  install("allot-gateway", ALLOT_SCRIPTED_WORKER);
  environment_.push_back("ALLOT_LIBEXEC=" + (folder_ / "bin"));
  write_script();
  start();
}

Allotd::~Allotd() {
  for (const auto& [key, value] : script_) {
    if (key.ends_with("_gate")) open(value);
  }
  (void)stop(SIGQUIT);  // also ends processes started by workers
}

std::unique_ptr<support::Process> Allotd::another() const {
  support::ProcessOptions options;
  options.environment = environment_;
  return std::make_unique<support::Process>(
      std::vector<std::string>{folder_ / "bin/allotd", "--config", folder_ / "script"}, options);
}

void Allotd::start() {
  if (process_) former_log_ = log();
  process_ = another();
}

std::optional<support::ExitStatus> Allotd::stop(int number) {
  process_->signal(number);
  return process_->wait();
}

void Allotd::set(const std::string& key, const std::string& value) {
  script_[key] = value;
  write_script();
}

void Allotd::write_script() const {
  std::string text;
  for (const auto& [key, value] : script_) text += key + "=" + value + "\n";
  std::filesystem::rename(folder_.write("script.new", text), folder_ / "script");
}

void Allotd::order(const std::string& who, const std::string& command) const {
  std::filesystem::rename(folder_.write("do.new", command), folder_ / ("do." + who));
}

bool Allotd::tell(int slot, const std::string& command) {
  const std::string done =
      "did " + command.substr(0, command.find(' ')) + " slot=" + std::to_string(slot) + " ";
  const std::size_t before = seen(done);
  order(std::to_string(slot), command);
  return saw(done, before + 1);
}

void Allotd::install(const std::string& name, const std::string& program) const {
  std::filesystem::create_symlink(program, folder_ / "bin/new");
  std::filesystem::rename(folder_ / "bin/new", folder_ / ("bin/" + name));
}

std::size_t Allotd::seen(const std::string& text) const {
  return count(support::read_file(folder_ / "events"), text);
}

std::size_t Allotd::logs(const std::string& text) const {
  return count(log(), text);
}

bool Allotd::saw(const std::string& text, std::size_t times) const {
  return support::eventually([&] { return seen(text) >= times; });
}

bool Allotd::logged(const std::string& text, std::size_t times) const {
  return support::eventually([&] { return logs(text) >= times; });
}

pid_t Allotd::pid_of(const std::string& text) const {
  std::istringstream events(support::read_file(folder_ / "events"));
  pid_t pid = -1;
  for (std::string line; std::getline(events, line);) {
    const std::size_t at = line.find("pid=");
    if (line.starts_with(text) && at != std::string::npos) pid = std::stoi(line.substr(at + 4));
  }
  return pid;
}

int Allotd::newest() const {
  const std::string events = support::read_file(folder_ / "events");
  const std::string mark = "ready slot=";
  const std::size_t at = events.rfind(mark);
  return at == std::string::npos ? -1 : std::stoi(events.substr(at + mark.size()));
}

std::string Allotd::log() const {
  return former_log_ + process_->err() + support::read_file(folder_ / "log");
}

std::string Allotd::story() const {
  return "--- events\n" + support::read_file(folder_ / "events") + "--- log\n" + log();
}

char state_of(pid_t pid) {
  const std::string text = support::read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t at = text.rfind(')');
  return at == std::string::npos ? '\0' : text.at(at + 2);
}

bool ends(pid_t pid) {
  return support::eventually([pid] {
    const char state = state_of(pid);
    return state == '\0' || state == 'Z' || state == 'X';
  });
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::istringstream text(support::read_file("/proc/" + number + "/task/" + number + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; text >> child;) children.push_back(child);
  return children;
}

pid_t start_busy(Allotd& daemon, const std::string& task) {
  EXPECT_TRUE(daemon.saw("ready slot=0")) << daemon.story();
  const pid_t worker = daemon.pid_of("ready slot=0");
  EXPECT_TRUE(daemon.tell(0, task)) << daemon.story();
  return worker;
}

}  // namespace allot::supervisor

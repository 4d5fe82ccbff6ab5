// SPDX-License-Identifier: Apache-2.0
// Implements the contract of daemon/ipc in place of allot-worker, allot-embedded and allot-gateway,
// following a script (folder.h), so that the supervisor is tested without a database, with
// behaviour that no real worker has.
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/posix.h"
#include "ipc/preflight.h"
#include "ipc/slot.h"
#include "support/scripted_worker/folder.h"
#include "support/scripted_worker/worker.h"

namespace allot::scripted {
namespace {

template <std::size_t N>
void put(char (&to)[N], const std::string& from) {
  std::snprintf(to, N, "%s", from.c_str());
}

// pools=name:size,name:size
ipc::PreflightAnswer answer_of(const Folder& folder) {
  ipc::PreflightAnswer answer{};
  std::istringstream pools(folder.text("pools", "main:1"));
  for (std::string pool; std::getline(pools, pool, ',');) {
    ipc::PreflightPool& entry = answer.pools[answer.pool_count++];
    put(entry.name, pool.substr(0, pool.find(':')));
    entry.size = static_cast<std::uint32_t>(std::stoul(pool.substr(pool.find(':') + 1)));
  }
  answer.frozen_ms = static_cast<std::uint32_t>(folder.number("frozen_ms", 60'000));
  answer.stop_ms = static_cast<std::uint32_t>(folder.number("stop_ms", 60'000));
  answer.gateway = static_cast<std::uint32_t>(folder.number("gateway", 0));
  answer.log_format = static_cast<LogFormat>(folder.number("log_format", 0));
  put(answer.instance, folder.text("instance", "test"));
  put(answer.runtime_dir, folder.text("runtime_dir", folder.path("run")));
  put(answer.embedded_dir, folder.text("embedded_dir"));
  const std::string log_file = folder.text("log_file");
  put(answer.log_file, log_file.empty() ? log_file : folder.path(log_file));
  return answer;
}

int check(const Folder& folder, const std::string& step, bool reclaim) {
  folder.tell("check " + step + (reclaim ? " reclaim" : ""));
  folder.pass_gate("check_" + step + "_gate");
  if (const int number = folder.number("check_" + step + "_signal", 0); number != 0) {
    kill(getpid(), number);
  }
  const int code = folder.number("check_" + step + "_exit", 0);
  const bool refuses = code != 0 && !folder.text("problem").empty();
  if (!refuses && (code != 0 || step != "config")) return code;
  ipc::PreflightAnswer answer = answer_of(folder);
  if (refuses) {
    put(answer.problem, folder.text("problem"));
    write_all(ipc::kAnswerFd, &answer, sizeof answer);
    return code;
  }
  std::filesystem::create_directories(answer.runtime_dir);
  const auto size = folder.number("answer_bytes", sizeof answer);
  return write_all(ipc::kAnswerFd, &answer, static_cast<std::size_t>(size)) ? 0 : kExitSoftware;
}

int settle(const Folder& folder, const std::string& slot, const std::string& status) {
  folder.tell("settle slot=" + slot + " status=" + status);
  folder.pass_gate("settle_gate");
  return folder.number("settle_exit", 0);
}

// allot-embedded DIR, where DIR is in the test's folder.
int keep_database(const Folder& folder) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const UniqueFd signals(signalfd(-1, &mask, SFD_CLOEXEC));
  folder.tell("embedded pid=" + std::to_string(getpid()));
  if (const int code = folder.number("embedded_exit", 0); code != 0) return code;
  folder.pass_gate("embedded_gate");
  write_all(ipc::kAnswerFd, "\n", 1);
  close(ipc::kAnswerFd);
  for (;;) {
    pollfd watched[] = {{signals.get(), POLLIN, 0}, {ipc::kDeathFd, POLLIN, 0}};
    if (poll(watched, 2, 10) > 0) break;
    const std::string command = folder.take_command("embedded");
    if (command.starts_with("exit ")) return std::stoi(command.substr(5));
  }
  folder.tell("embedded_stopped");
  return 0;
}

// Opens the supervisor's descriptor of that number, as the real program does.
bool reaches(pid_t supervisor, int number) {
  const std::string path = "/proc/" + std::to_string(supervisor) + "/fd/" + std::to_string(number);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fcntl(fd.get(), F_GET_SEALS) >= 0;  // only anonymous files have seals
}

// allot-gateway --supervised
int serve(const Folder& folder) {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&mask, number);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const UniqueFd signals(signalfd(-1, &mask, SFD_CLOEXEC));
  const std::string self = " pid=" + std::to_string(getpid());
  folder.tell("gateway" + self);
  if (const int code = folder.number("gateway_exit", 0); code != 0) return code;
  folder.pass_gate("gateway_gate");
  write_all(ipc::kAnswerFd, "\n", 1);
  for (;;) {
    pollfd watched[] = {{signals.get(), POLLIN, 0}, {ipc::kDeathFd, POLLIN, 0}};
    poll(watched, 2, 10);
    if (watched[1].revents != 0) break;
    signalfd_siginfo info{};
    if (watched[0].revents != 0 && read(signals.get(), &info, sizeof info) > 0) {
      if (info.ssi_signo == SIGTERM) break;
      if (info.ssi_signo == SIGUSR1) folder.tell("gateway usr1" + self);
      if (info.ssi_signo == SIGHUP) {
        folder.tell(std::string("gateway hup ") +
                    (reaches(static_cast<pid_t>(info.ssi_pid), info.ssi_int) ? "config" : "lost") +
                    self);
      }
    }
    const std::string command = folder.take_command("gateway");
    if (command.starts_with("exit ")) return std::stoi(command.substr(5));
    if (command == "deaf") {
      folder.tell("gateway deaf" + self);
      for (;;) pause();
    }
  }
  folder.tell("gateway_stopped");
  folder.pass_gate("gateway_stop_gate");
  return 0;
}

std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  const auto found = std::find(words.begin(), words.end(), option);
  return found == words.end() || found + 1 == words.end() ? std::string() : *(found + 1);
}

int main_of(const std::vector<std::string>& words) {
  if (words[0] == "allot-embedded") return keep_database(Folder(words.at(1)));
  const Folder folder(value_of(words, "--config"));
  if (words[0] == "allot-gateway") return serve(folder);
  const auto has = [&words](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("--check")) return check(folder, value_of(words, "--check"), has("--reclaim"));
  if (has("--settle"))
    return settle(folder, value_of(words, "--settle"), value_of(words, "--status"));
  if (has("--run")) {
    return run_worker(folder, static_cast<std::uint32_t>(std::stoul(value_of(words, "--slot"))));
  }
  return kExitUsage;
}

}  // namespace
}  // namespace allot::scripted

int main(int argc, char** argv) {
  // Without exit handlers: a leak check is useless here and takes time.
  _exit(allot::scripted::main_of({argv, argv + argc}));
}

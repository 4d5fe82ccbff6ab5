// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/programs.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/unique_fd.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> worker_words(const Context& context,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  if (!context.load.file.empty()) words.insert(words.end(), {"--config", context.load.file});
  if (!context.load.embedded.empty())
    words.insert(words.end(), {"--embedded", context.load.embedded});
  return words;
}

}  // namespace

int run_worker_program(const Context& context, const std::vector<std::string>& arguments) {
  return run_program("allot-worker", worker_words(context, arguments));
}

std::string worker_output(const Context& context, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("pipe: ") + std::strerror(errno));
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) throw Error(std::string("fork: ") + std::strerror(errno));
  if (pid == 0) {
    const UniqueFd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    dup2(in.get(), STDOUT_FILENO);
    dup2(null.get(), STDERR_FILENO);
    try {
      run_program("allot-worker", worker_words(context, arguments));
    } catch (const Error&) {
      _exit(kExitFailure);
    }
  }
  in.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(out.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  waitpid(pid, nullptr, 0);
  return text;
}

std::string program_path(const std::string& name) {
  if (const char* folder = std::getenv("ALLOT_LIBEXEC")) return std::string(folder) + "/" + name;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {".", "../libexec/allot", "../sbin"}) {
    if (fs::exists(folder / place / name)) return folder / place / name;
  }
  return folder / name;
}

int run_program(const std::string& name, std::vector<std::string> words) {
  const std::string program = program_path(name);
  words.insert(words.begin(), name);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // otherwise exec would keep it ignored
  execv(program.c_str(), raw.data());
  throw Error(program + " cannot be run: " + std::strerror(errno) +
              "; is the installation complete?");
}

}  // namespace allot::cli

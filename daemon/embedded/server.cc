// SPDX-License-Identifier: Apache-2.0
#include "embedded/server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "db/migrate.h"

namespace allot::embedded {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDatabase = "allot";

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  throw Error("the embedded database needs " + name +
                  ", which is not installed: apt-get install mariadb-server-core "
                  "mariadb-client-core",
              kExitConfig);
}

// Forks and execs with default signals; the child ends when this process ends. `scratch` is for its
// temporary files: at its start each MariaDB removes files that look like its own from that folder,
// so in /tmp it would remove the files of another running server.
pid_t run(const std::vector<std::string>& command, const std::string& output,
          const std::string& scratch) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int log = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid > 0) {
    if (log >= 0) close(log);
    return pid;
  }
  // S28: the user must not change between prctl and exec, because the kernel would clear PDEATHSIG.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kExitFailure);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  // TMPDIR instead of --tmpdir: mariadb-install-db would split a path that has spaces.
  setenv("TMPDIR", scratch.c_str(), 1);
  execv(arguments[0], arguments.data());
  _exit(kExitNoInput);
}

db::ConnectOptions connect_options(const std::string& socket) {
  db::ConnectOptions options;
  options.socket = socket;
  options.user = "root";
  options.call_timeout = std::chrono::seconds(60);
  return options;
}

}  // namespace

Server::Server(std::string folder, bool binary_log)
    : folder_(std::move(folder)),
      binary_log_(binary_log),
      server_program_(find_program("mariadbd")),
      install_program_(find_program("mariadb-install-db")) {
  constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
  if (socket().size() > kMost) {
    throw Error("embedded database: " + socket() + " is longer than the " + std::to_string(kMost) +
                    " bytes allowed in a socket path; choose a shorter folder",
                kExitConfig);
  }
}

void Server::initialise() const {
  const std::string fresh = folder_ + "/data.new";
  if (fs::exists(data() + "/mysql")) return;
  fs::remove_all(fresh);
  std::vector<std::string> command{install_program_,     "--no-defaults",
                                   "--datadir=" + fresh, "--auth-root-authentication-method=normal",
                                   "--skip-test-db",     "--skip-name-resolve"};
  command.emplace_back("--force");  // for a host name that cannot be resolved
  // No --user, not even for root: the script would give the folder to that user, and would split a
  // path that has spaces. It is not required, because the script starts the server only for its
  // bootstrap.
  fs::create_directories(scratch());
  const pid_t pid = run(command, error_log(), scratch());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    throw Error("embedded database: " + fresh + " could not be initialized; see " + error_log());
  }
  fs::rename(fresh, data());
}

pid_t Server::start() const {
  std::vector<std::string> command{server_program_,
                                   "--no-defaults",
                                   "--datadir=" + data(),
                                   "--socket=" + socket(),
                                   "--pid-file=" + folder_ + "/pid",
                                   "--log-error=" + error_log(),
                                   "--skip-networking",
                                   "--skip-name-resolve",
                                   "--max-connections=1300",
                                   "--max-allowed-packet=64M",
                                   "--character-set-server=utf8mb4",
                                   "--innodb-flush-log-at-trx-commit=1"};
  if (geteuid() == 0) command.emplace_back("--user=root");
  if (binary_log_) {
    command.insert(command.end(), {"--log-bin=log", "--binlog-format=ROW", "--server-id=1"});
  }
  fs::permissions(data(), fs::perms::owner_all);
  fs::create_directories(scratch());
  return run(command, error_log(), scratch());
}

bool Server::answers() const {
  try {
    const db::Connection connection(connect_options(socket()));
    return true;
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kGone) return false;
    throw;
  }
}

void Server::prepare() const {
  db::ConnectOptions options = connect_options(socket());
  db::Connection(options).execute("CREATE DATABASE IF NOT EXISTS " + std::string(kDatabase) +
                                  " CHARACTER SET utf8mb4");
  options.database = kDatabase;
  db::Connection connection(options);
  db::migrate(connection);
}

}  // namespace allot::embedded

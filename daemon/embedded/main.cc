// SPDX-License-Identifier: Apache-2.0
// allot-embedded DIR runs a private MariaDB in DIR (S28). allotd starts it before everything else
// and stops it last; started by hand it stays in the foreground until TERM or INT.
// Rule: S72.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "db/migrate.h"
#include "ipc/slot.h"
#include "peer/inherited.h"
#include "trust/trust.h"

namespace allot::embedded {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDatabase = "allot";
constexpr Nanos kStartPatience = 55 * kSecond;
constexpr Nanos kStopPatience = 25 * kSecond;

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
pid_t spawn(const std::vector<std::string>& command, const std::string& output,
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

// Shutdown must not wait for a reader of standard error.
void say(const std::string& text) {
  const std::string line = "allot-embedded: " + text + "\n";
  (void)write_now(STDERR_FILENO, line.data(), line.size());
}

// Private MariaDB below one folder: DIR/data, DIR/tmp, DIR/error.log. Its socket is in DIR/data,
// which is closed to other users, because every client of the socket is root of the database. It
// ends with this object, at a signal, or with the supervisor.
class Server {
 public:
  // Throws Error(kExitConfig) if DIR is too long for a socket path, or if MariaDB's programs are
  // not installed.
  Server(std::string folder, bool binary_log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { stop(); }  // also after an exception during the start

  int run();

 private:
  void initialise() const;
  [[nodiscard]] pid_t start() const;
  [[nodiscard]] bool answers() const;
  void prepare() const;
  bool wait_until_it_answers();
  bool asked_to_stop(int timeout_ms);
  bool gone();
  bool stop();

  [[nodiscard]] std::string data() const { return folder_ + "/data"; }
  [[nodiscard]] std::string socket() const { return data() + "/sock"; }
  [[nodiscard]] std::string scratch() const { return folder_ + "/tmp"; }
  [[nodiscard]] std::string error_log() const { return folder_ + "/error.log"; }

  const std::string folder_;
  const bool binary_log_;
  const std::string server_program_ = find_program("mariadbd");
  const std::string install_program_ = find_program("mariadb-install-db");
  UniqueFd signals_;
  int death_fd_ = -1;
  pid_t pid_ = -1;
};

Server::Server(std::string folder, bool binary_log)
    : folder_(std::move(folder)), binary_log_(binary_log) {
  constexpr std::size_t kMost = sizeof(sockaddr_un::sun_path) - 1;
  if (socket().size() > kMost) {
    throw Error("embedded database: " + socket() + " is longer than the " + std::to_string(kMost) +
                    " bytes allowed in a socket path; choose a shorter folder",
                kExitConfig);
  }
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&mask, number);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  signals_.reset(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  death_fd_ = peer::inherited(ipc::kDeathFd) ? ipc::kDeathFd : -1;
}

int Server::run() {
  initialise();
  pid_ = start();
  if (!wait_until_it_answers()) return stop() ? kExitOk : kExitFailure;
  prepare();
  if (peer::inherited(ipc::kAnswerFd)) write_all(ipc::kAnswerFd, "\n", 1);
  while (!asked_to_stop(-1)) {
    if (gone()) {
      say("mariadbd ended by itself; see " + error_log());
      return kExitFailure;
    }
  }
  stop();
  return kExitOk;
}

// Creates the data folder if it is missing. A kill in between does not leave a folder that looks
// complete.
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
  const pid_t pid = spawn(command, error_log(), scratch());
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    throw Error("embedded database: " + fresh + " could not be initialized; see " + error_log());
  }
  fs::rename(fresh, data());
}

// Starts mariadbd, which ends when this process ends; returns its pid.
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
  return spawn(command, error_log(), scratch());
}

// Tries to connect once. False: the server does not respond yet.
bool Server::answers() const {
  try {
    const db::Connection connection(connect_options(socket()));
    return true;
  } catch (const db::DbError& error) {
    if (error.error_class() == db::ErrorClass::kGone) return false;
    throw;
  }
}

// Creates Allot's database and brings its schema up to date.
void Server::prepare() const {
  db::ConnectOptions options = connect_options(socket());
  db::Connection(options).execute("CREATE DATABASE IF NOT EXISTS " + std::string(kDatabase) +
                                  " CHARACTER SET utf8mb4");
  options.database = kDatabase;
  db::Connection connection(options);
  db::migrate(connection);
}

bool Server::wait_until_it_answers() {
  const Nanos deadline = mono_ns() + kStartPatience;
  while (!answers()) {
    if (gone() || mono_ns() > deadline) {
      throw Error("embedded database: mariadbd did not start; see " + error_log());
    }
    if (asked_to_stop(20)) return false;
  }
  return true;
}

// Waits for a signal or the supervisor's end, for at most `timeout_ms` (-1: without limit).
bool Server::asked_to_stop(int timeout_ms) {
  pollfd watched[] = {{signals_.get(), POLLIN, 0}, {death_fd_, POLLIN, 0}};
  poll(watched, 2, timeout_ms);
  bool stop = watched[1].revents != 0;
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    stop = stop || info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
  }
  return stop;
}

bool Server::gone() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

// Shuts the server down, by force if it does not stop. True if the shutdown was orderly.
bool Server::stop() {
  if (gone()) return true;
  kill(pid_, SIGTERM);
  const Nanos deadline = mono_ns() + kStopPatience;
  while (!gone() && mono_ns() < deadline) asked_to_stop(50);
  if (gone()) return true;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  return false;
}

constexpr char kUsage[] =
    "usage: allot-embedded DIR [--supervised | --binary-log]\n"
    "  DIR             the folder of the database, an absolute path\n"
    "  --supervised    by allotd: it has opened the descriptors of its children\n"
    "  --binary-log    write a row-based binary log, for benchmarks\n"
    "  --version, --help\n"
    "signals: TERM, INT stop the server in order\n";

// The lock is held until exit, because two servers on one data folder would destroy it.
UniqueFd lock(const std::string& folder) {
  trust::make_folder(folder, trust::Role::kPrivateFolder, "[database] embedded");
  UniqueFd file(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) {
    throw Error("embedded database: " + folder + "/lock: " + std::strerror(errno),
                kExitCannotCreate);
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error("embedded database: " + folder + " is in use by another allot-embedded",
                kExitFailure);
  }
  return file;
}

int keep(const std::string& folder, bool binary_log) {
  const UniqueFd locked = lock(folder);
  return Server(folder, binary_log).run();
}

}  // namespace
}  // namespace allot::embedded

int main(int argc, char** argv) {
  using namespace allot;
  peer::note_inherited();
  // The supervisor passes its own options, which come from the configuration.
  const bool supervised = argc >= 3 && std::strcmp(argv[2], "--supervised") == 0;
  if (!supervised) peer::forget_inherited();
  const bool binary_log = argc == 3 && std::strcmp(argv[2], "--binary-log") == 0;
  const std::string argument = argc == 2 || supervised || binary_log ? argv[1] : "";
  if (argument == "--version") {
    std::printf("%s\n", kVersionMark);
    return kExitOk;
  }
  if (argument.empty() || argument[0] != '/') {
    const bool asked = argument == "--help";
    std::fputs(embedded::kUsage, asked ? stdout : stderr);
    return asked ? kExitOk : kExitUsage;
  }
  try {
    return embedded::keep(argument, binary_log);
  } catch (const Error& error) {
    embedded::say(error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    embedded::say(error.what());
    return kExitFailure;
  }
}

// SPDX-License-Identifier: Apache-2.0
// allot-gateway serves HTTP. allotd starts it with the workers if the configuration has [gateway];
// it also runs alone, with its own account: allot-gateway --config FILE
#include <fcntl.h>
#include <getopt.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "config/settings.h"
#include "db/from_settings.h"
#include "gateway/access/access.h"
#include "gateway/api/application.h"
#include "gateway/fireworq/application.h"
#include "gateway/http/server.h"
#include "gateway/listeners.h"
#include "gateway/ui/site.h"
#include "ipc/slot.h"
#include "log/log.h"
#include "meter/record_file.h"
#include "peer/inherited.h"
#include "schedule/computing_process.h"

namespace allot::gateway {
namespace {

constexpr std::chrono::milliseconds kGrace{5'000};  // for requests in flight
constexpr rlim_t kOtherFiles = 200;                 // in addition to client connections

constexpr char kUsage[] =
    "usage: allot-gateway [--config FILE] [--embedded DIR]\n"
    "  --config FILE    configuration; else $ALLOT_CONFIG, else /etc/allot/allot.toml\n"
    "  --embedded DIR   use the private database in DIR\n"
    "  --supervised     by allotd: it has opened the descriptors of its children\n"
    "  --listeners N,N  by itself, at a reload: the sockets that it listens at\n"
    "  --connections N  by itself, at a reload: a file with the numbers of open connections\n"
    "  --counts N       by itself, at a reload: a file with what it has counted\n"
    "  --calendar       by itself: say when schedules run, line by line\n"
    "  --version, --help\n"
    "signals: TERM, INT stop it; HUP reads the configuration again; USR1 opens the log file "
    "again\n";

bool failure_is_logged = false;

struct Options {
  config::LoadOptions load;
  bool supervised = false;
  std::vector<int> listeners;
  int connections = -1;
  int counts = -1;
  bool calendar = false;
};

[[noreturn]] void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::exit(kExitOk);
}

Options parse(int argc, char** argv) {
  constexpr option kLong[] = {{"config", required_argument, nullptr, 'f'},
                              {"embedded", required_argument, nullptr, 'e'},
                              {"supervised", no_argument, nullptr, 's'},
                              {"listeners", required_argument, nullptr, 'l'},
                              {"connections", required_argument, nullptr, 'c'},
                              {"counts", required_argument, nullptr, 'n'},
                              {"calendar", no_argument, nullptr, 'k'},
                              {"version", no_argument, nullptr, 'v'},
                              {"help", no_argument, nullptr, 'h'},
                              {nullptr, 0, nullptr, 0}};
  Options options;
  for (int got = 0; (got = getopt_long(argc, argv, "", kLong, nullptr)) != -1;) {
    switch (got) {
      case 'f':
        options.load.file = optarg;
        break;
      case 'e':
        options.load.embedded = optarg;
        break;
      case 's':
        options.supervised = true;
        break;
      case 'l': {
        std::istringstream numbers(optarg);
        for (std::string number; std::getline(numbers, number, ',');) {
          options.listeners.push_back(std::atoi(number.c_str()));
        }
        break;
      }
      case 'c':
        options.connections = std::atoi(optarg);
        break;
      case 'n':
        options.counts = std::atoi(optarg);
        break;
      case 'k':
        options.calendar = true;
        break;
      case 'v':
        say(std::string(kVersionMark) + "\n");
      case 'h':
        say(kUsage);
      default:
        throw Error(std::string("unknown or incomplete option\n") + kUsage, kExitUsage);
    }
  }
  if (optind != argc) throw Error(std::string("unexpected argument\n") + kUsage, kExitUsage);
  return options;
}

// In a file, because the list may exceed the size of an argument.
UniqueFd noted(const std::vector<UniqueFd>& connections) {
  UniqueFd file(::memfd_create("allot-connections", 0));
  for (const UniqueFd& each : connections) {
    const int number = each.get();
    if (!write_all(file.get(), &number, sizeof number)) return {};
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<UniqueFd> read_noted(int fd) {
  std::vector<UniqueFd> connections;
  const UniqueFd file(fd);
  for (int number = 0;
       file.valid() && ::read(file.get(), &number, sizeof number) == sizeof number;) {
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
    connections.emplace_back(number);
  }
  return connections;
}

// Uses the configuration that was checked last: the copy passed on by the supervisor (S26).
config::Settings settings_of(const Options& options) {
  config::LoadOptions load = options.load;
  const bool passed_on = peer::inherited(ipc::kConfigFd) && config::Files::is_copy(ipc::kConfigFd);
  if (passed_on) load.copy = ipc::kConfigFd;
  config::Settings settings = config::load(load);
  if (!settings.gateway) {
    throw Error(
        (settings.file.empty() ? "the configuration" : settings.file) + " has no section [gateway]",
        kExitConfig);
  }
  return settings;
}

// Each connection takes a descriptor; without a free one each new connection is refused.
http::Limits limits_of(const config::Gateway& gateway, const access::Access& access) {
  http::Limits limits;
  limits.speaks_for_many = [&access](const auto& address) {
    return access.is_trusted_proxy(address);
  };
  limits.body_bytes = std::size_t{gateway.max_body_memory} << 20;
  limits.connections = gateway.max_connections;
  limits.connections_of_peer = gateway.max_connections_per_peer;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return limits;
  const rlim_t wanted = gateway.max_connections + kOtherFiles;
  files.rlim_cur = std::min(files.rlim_max, std::max(files.rlim_cur, wanted));
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < wanted && files.rlim_cur > 2 * kOtherFiles) {
    limits.connections = files.rlim_cur - kOtherFiles;
    log::warn("gateway.few_files",
              {{"connections", limits.connections}, {"configured", gateway.max_connections}});
  }
  return limits;
}

// The shared request counts, so that no count falls while allotd runs: a file that the next gateway
// finds, however this one ends. A gateway without allotd has no such folder, and passes `file` to
// its next image. nullptr: not available, and counts start from 0.
meter::RequestRecord* requests_of(const Options& options, const config::Settings& settings,
                                  UniqueFd& file) {
  meter::RequestRecord* record = nullptr;
  if (options.supervised) {
    const std::string folder = config::runtime_dir(settings);
    const auto run = meter::run_in(folder);
    if (run) record = meter::open_requests(folder, *run);
  } else {
    if (!file.valid()) file.reset(::memfd_create("allot-counts", MFD_CLOEXEC));
    record = meter::open_requests(file.get());
  }
  if (record == nullptr) log::warn("gateway.counts_missing", {{"error", std::strerror(errno)}});
  return record;
}

api::Service service_of(const config::Settings& settings, meter::RequestRecord* requests) {
  api::Service service;
  service.database = db::from_settings(settings.gateway->database, config::runtime_dir(settings));
  service.queues = settings.queues;
  service.instance = settings.daemon.instance;
  service.runtime_dir = config::runtime_dir(settings);
  service.metrics_types = settings.metrics.types;
  service.base_path = settings.gateway->base_path;
  service.read_only = settings.gateway->read_only;
  service.threads = settings.gateway->threads;
  service.requests = requests;
  return service;
}

fireworq::Service fireworq_of(const config::Settings& settings) {
  fireworq::Service service;
  service.database = db::from_settings(settings.gateway->database, config::runtime_dir(settings));
  service.settings = *settings.gateway->fireworq;
  service.plugins = settings.plugins;
  service.runtime_dir = config::runtime_dir(settings);
  service.read_only = settings.gateway->read_only;
  service.threads = settings.gateway->threads;
  return service;
}

// nullptr: the dashboard is disabled.
std::unique_ptr<ui::Site> site_of(const config::Settings& settings, const access::Access& access,
                                  api::Application& api) {
  const config::Gateway& gateway = *settings.gateway;
  if (!gateway.ui) return nullptr;
  std::string why;
  std::string key = ui::cookie_key(gateway.cookie_key_file, config::runtime_dir(settings), why);
  if (key.empty()) {
    log::warn("gateway.cookie_key_missing", {{"error", why}});
    key = ui::random_key();  // sessions end with this process
  }
  return std::make_unique<ui::Site>(gateway.base_path, config::runtime_dir(settings),
                                    std::move(key), access, api);
}

// A timer that is readable once a second.
UniqueFd ticking() {
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec each{{1, 0}, {0, 1}};
  ::timerfd_settime(timer.get(), 0, &each, nullptr);
  return timer;
}

// Clients' tokens pass through this process: other processes may not inspect it, and its children
// gain no privileges.
void shut_in() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#ifndef __SANITIZE_ADDRESS__  // LeakSanitizer attaches to the process
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

UniqueFd take_signals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&mask, number);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // EFBIG is reported and handled instead
  return UniqueFd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Sends one datagram of systemd's notification protocol (sd_notify(3)), such as "READY=1". Does
// nothing without $NOTIFY_SOCKET, for example below allotd. The variable remains set for the exec
// of a reload; no other program is started.
void tell_systemd(const char* text) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size < 2 || size >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, size);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // abstract socket address
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  static_cast<void>(::sendto(fd.get(), text, std::strlen(text), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

// One run of the gateway, from its configuration to its end, or to the next reload.
class Gateway {
 public:
  enum class End { kStop, kReload, kLost };

  Gateway(const Options& options, const config::Settings& settings, Listeners& listeners,
          meter::RequestRecord* requests)
      : options_(options),
        access_(*settings.gateway),
        application_(service_of(settings, requests),
                     [this](const http::Head& head) { return access_.authorize(head); }),
        fireworq_(settings.gateway->fireworq
                      ? std::make_unique<fireworq::Application>(
                            fireworq_of(settings),
                            [this](std::string_view token) { return access_.by_token(token); })
                      : nullptr),
        site_(site_of(settings, access_, application_)),
        server_(site_ ? static_cast<http::Application&>(*site_) : application_,
                limits_of(*settings.gateway, access_), listeners.for_server(fireworq_.get()),
                {settings.gateway->tls_cert, settings.gateway->tls_key}) {}

  void adopt(UniqueFd connection, Listeners::At at) {
    server_.adopt(std::move(connection),
                  at == Listeners::At::kFireworq ? fireworq_.get() : nullptr);
  }
  [[nodiscard]] std::vector<UniqueFd> kept() { return server_.kept(); }

  End run(int signals) {
    server_.watch(signals, [this, signals] { on_signals(signals); });
    if (peer::inherited(ipc::kDeathFd)) {
      // The only message is the end of the pipe.
      server_.watch(ipc::kDeathFd, [this] {
        if (!orphaned_) log::warn("gateway.orphaned", {{"pid", ::getpid()}});
        orphaned_ = true;
        stop(End::kStop);
      });
    }
    if (fireworq_) {
      clock_ = ticking();
      server_.watch(clock_.get(), [this] {
        std::uint64_t times = 0;
        if (::read(clock_.get(), &times, sizeof times) == sizeof times) fireworq_->turn();
      });
    }
    server_.run();
    return end_;
  }

 private:
  void stop(End end) {
    if (stopping_) return;
    stopping_ = true;
    end_ = end;
    if (end == End::kReload) {
      log::info("gateway.reloading", {{"pid", ::getpid()}});
      tell_systemd(("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(mono_ns() / kMicro)).c_str());
      return server_.stop(kGrace, true);
    }
    tell_systemd("STOPPING=1");
    server_.stop(kGrace);
  }

  void on_signals(int signals) {
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      switch (info.ssi_signo) {
        case SIGUSR1:
          if (log::reopen()) log::info("log.reopened", {{"pid", ::getpid()}});
          break;
        case SIGHUP:
          reload(info);
          break;
        default:
          end_ = End::kStop;  // overrides a reload in progress
          stop(End::kStop);
      }
    }
  }

  void reload(const signalfd_siginfo& info) {
    if (options_.supervised) return take_copy(info);
    try {
      static_cast<void>(settings_of(options_));
      stop(End::kReload);
    } catch (const Error& error) {
      log::error("gateway.reload_refused", {{"error", error.what()}});
    }
  }

  // The signal has the supervisor's descriptor of the checked copy. If the copy is not available,
  // the supervisor starts another gateway with it.
  void take_copy(const signalfd_siginfo& info) {
    if (info.ssi_code != SI_QUEUE) {
      return log::warn("gateway.reload_refused",
                       {{"error", "send HUP to allotd, which checks the configuration first"}});
    }
    const std::string path =
        "/proc/" + std::to_string(info.ssi_pid) + "/fd/" + std::to_string(info.ssi_int);
    const UniqueFd copy(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const bool good = config::Files::is_copy(copy.get()) &&
                      ::dup3(copy.get(), ipc::kConfigFd, O_CLOEXEC) == ipc::kConfigFd;
    if (!good) log::warn("gateway.no_copy", {{"path", path}, {"error", std::strerror(errno)}});
    stop(good ? End::kReload : End::kLost);
  }

  const Options& options_;
  bool stopping_ = false;
  bool orphaned_ = false;
  End end_ = End::kStop;
  const access::Access access_;
  api::Application application_;
  const std::unique_ptr<fireworq::Application> fireworq_;  // nullptr: not configured
  const std::unique_ptr<ui::Site> site_;                   // nullptr: ui = false
  UniqueFd clock_;
  http::Server server_;
};

// Path of this program, which may have been replaced on disk.
std::string own_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

// Restarts in the same process, so that a service manager sees no change. Returns only on failure.
void exec_itself(const Options& options, const std::vector<int>& listeners,
                 const std::vector<UniqueFd>& connections, int counts) {
  const std::string path = own_path();
  std::vector<std::string> words{"allot-gateway"};
  if (!options.load.file.empty()) words.insert(words.end(), {"--config", options.load.file});
  if (!options.load.embedded.empty()) {
    words.insert(words.end(), {"--embedded", options.load.embedded});
  }
  if (options.supervised) words.emplace_back("--supervised");
  std::string numbers;
  for (const int fd : listeners) numbers += (numbers.empty() ? "" : ",") + std::to_string(fd);
  words.insert(words.end(), {"--listeners", numbers});
  const UniqueFd file = noted(connections);
  if (file.valid()) words.insert(words.end(), {"--connections", std::to_string(file.get())});
  if (counts >= 0) words.insert(words.end(), {"--counts", std::to_string(counts)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::close_range(ipc::kSlotFd, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  for (const int fd : listeners) ::fcntl(fd, F_SETFD, 0);
  for (const UniqueFd& each : connections)
    ::fcntl(each.get(), F_SETFD, file.valid() ? 0 : FD_CLOEXEC);
  ::fcntl(file.get(), F_SETFD, 0);
  ::fcntl(counts, F_SETFD, 0);
  for (int fd = ipc::kSlotFd; fd <= ipc::kLastFd; ++fd) {
    if (peer::inherited(fd)) ::fcntl(fd, F_SETFD, 0);
  }
  ::execv(path.c_str(), arguments.data());
  log::error("gateway.exec", {{"program", path}, {"error", std::strerror(errno)}});
}

int run(const Options& options) {
  // Needs no configuration. Must not have a second thread, because it changes the time zone.
  if (options.calendar) {
    schedule::answer_all(std::cin, std::cout);
    return kExitOk;
  }
  if (!options.supervised) peer::forget_inherited();
  const UniqueFd signals = take_signals();
  const config::Settings settings = settings_of(options);
  log::setup("gateway", log::parse_level(settings.logging.level), settings.logging.file,
             log::parse_format(settings.logging.format, settings.logging.file));
  failure_is_logged = options.supervised;
  shut_in();
  Listeners listeners(settings, options.listeners);
  std::vector<UniqueFd> connections = read_noted(options.connections);
  UniqueFd counts(options.counts);
  ::fcntl(counts.get(), F_SETFD, FD_CLOEXEC);
  meter::RequestRecord* requests = requests_of(options, settings, counts);
  auto end = Gateway::End::kStop;
  {
    Gateway gateway(options, settings, listeners, requests);
    for (UniqueFd& each : connections) {
      const Listeners::At at = listeners.place_of(each.get());
      if (at != Listeners::At::kNone) gateway.adopt(std::move(each), at);
    }
    connections.clear();
    log::info("gateway.listening", {{"pid", ::getpid()}, {"address", listeners.text()}});
    if (peer::inherited(ipc::kAnswerFd)) write_all(ipc::kAnswerFd, "\n", 1);
    tell_systemd("READY=1");
    end = gateway.run(signals.get());
    connections = gateway.kept();
  }
  if (end == Gateway::End::kReload) {
    log::info("gateway.reload", {{"pid", ::getpid()}, {"connections", connections.size()}});
    exec_itself(options, listeners.hand_on(), connections, counts.get());
    return kExitSoftware;
  }
  log::info("gateway.stopped", {{"pid", ::getpid()}});
  return end == Gateway::End::kLost ? kExitFailure : kExitOk;
}

// Writes to the log below allotd, to stderr otherwise.
int report(const std::string& message, int code) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    if (failure_is_logged) {
      log::error("gateway.failed", {{"code", code}, {"error", line}});
    } else {
      std::fprintf(stderr, "allot-gateway: %s\n", line.c_str());
    }
  }
  return code;
}

}  // namespace
}  // namespace allot::gateway

int main(int argc, char** argv) {
  using namespace allot;
  peer::note_inherited();
  try {
    return gateway::run(gateway::parse(argc, argv));
  } catch (const Error& error) {
    return gateway::report(error.what(), error.exit_code());
  } catch (const std::exception& error) {
    return gateway::report(std::string("defect: ") + error.what(), kExitSoftware);
  }
}

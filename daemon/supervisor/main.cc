// SPDX-License-Identifier: Apache-2.0
// allotd reads its few options, then loops (supervisor.h) until it is asked to stop.
#include <fcntl.h>
#include <getopt.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "base/exit_codes.h"
#include "base/version.h"
#include "supervisor/supervisor.h"

namespace {

constexpr char kUsage[] =
    "usage: allotd [--config FILE] [--embedded DIR]\n"
    "  --config FILE    configuration; else $ALLOT_CONFIG, else /etc/allot/allot.toml\n"
    "  --embedded DIR   keep a private MariaDB in DIR instead of using a server\n"
    "  --version, --help\n"
    "signals: TERM, INT stop gracefully; a second one, or QUIT, stops now;\n"
    "         HUP checks the configuration, then replaces the workers one by one;\n"
    "         USR1 opens the log file again, here and in the workers;\n"
    "         USR2 executes the allotd that is on disk now; its workers continue\n";

// A child may start in another folder, so a relative path becomes absolute now.
const char* absolute(const char* path, char (&buffer)[PATH_MAX]) {
  char folder[PATH_MAX];
  if (path[0] == '/' || getcwd(folder, sizeof folder) == nullptr) return path;
  const int size = std::snprintf(buffer, sizeof buffer, "%s/%s", folder, path);
  return size > 0 && static_cast<std::size_t>(size) < sizeof buffer ? buffer : path;
}

}  // namespace

int main(int argc, char** argv) {
  static char config[PATH_MAX], embedded[PATH_MAX], program[PATH_MAX];
  static allot::supervisor::Options options;
  static const option kLong[] = {{"config", required_argument, nullptr, 'c'},
                                 {"embedded", required_argument, nullptr, 'e'},
                                 {"resume", required_argument, nullptr, 'r'},  // for USR2
                                 {"version", no_argument, nullptr, 'v'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {nullptr, 0, nullptr, 0}};
  for (int got = 0; (got = getopt_long(argc, argv, "", kLong, nullptr)) != -1;) {
    switch (got) {
      case 'c':
        options.config = absolute(optarg, config);
        break;
      case 'e':
        options.embedded = absolute(optarg, embedded);
        break;
      case 'r':
        options.resume = optarg;
        break;
      case 'v':
        std::printf("%s\n", allot::kVersionMark);
        return allot::kExitOk;
      default:
        std::fputs(kUsage, got == 'h' ? stdout : stderr);
        return got == 'h' ? allot::kExitOk : allot::kExitUsage;
    }
  }
  if (optind != argc) {
    std::fprintf(stderr, "allotd: unexpected argument '%s'\n%s", argv[optind], kUsage);
    return allot::kExitUsage;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval returns a number
  options.program = absolute(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), program);
  const int null = open("/dev/null", O_RDWR);
  if (null > 0) dup2(null, STDIN_FILENO);
  if (null > STDERR_FILENO) close(null);
  static allot::supervisor::Supervisor supervisor(options);
  return supervisor.run();
}

// SPDX-License-Identifier: Apache-2.0
#include "support/command_line.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <system_error>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

#include <cstdint>
#endif

#include "base/posix.h"
#include "base/unique_fd.h"
#include "cli/run.h"

namespace allot::support {
namespace {

// Redirects a standard stream to a file in memory, until destruction.
class Stream {
 public:
  explicit Stream(int number, const std::string& content = {})
      : number_(number),
        before_(::fcntl(number, F_DUPFD_CLOEXEC, 3)),
        file_(::memfd_create("stream", MFD_CLOEXEC)) {
    if (!before_.valid() || !write_all(file_.get(), content.data(), content.size()) ||
        ::lseek(file_.get(), 0, SEEK_SET) != 0 || ::dup2(file_.get(), number) < 0) {
      throw std::system_error(errno, std::generic_category(), "stream");
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ::dup2(before_.get(), number_); }

  [[nodiscard]] std::string content() const {
    std::string all(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    if (::pread(file_.get(), all.data(), all.size(), 0) != static_cast<ssize_t>(all.size())) {
      throw std::system_error(errno, std::generic_category(), "stream");
    }
    return all;
  }

 private:
  int number_;
  UniqueFd before_;
  UniqueFd file_;
};

// Restores the process state that a short-lived command may change: signals and the time zone.
class Environment {
 public:
  Environment() {
    if (const char* zone = std::getenv("TZ")) zone_ = zone;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], nullptr, &before_[i]);
    }
    std::signal(SIGPIPE, SIG_IGN);  // as in main()
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
    if (zone_) {
      ::setenv("TZ", zone_->c_str(), 1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

 private:
  static constexpr int kSignals[] = {SIGPIPE, SIGINT, SIGTERM};
  struct sigaction before_[3]{};
  std::optional<std::string> zone_;
};

// A sanitizer's report before the process ends would otherwise be lost with the stream.
void keep_reports() {
#ifdef __SANITIZE_ADDRESS__
  static const int errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(errors)));
#endif
}

}  // namespace

Finished run_allot(const std::vector<std::string>& words, const std::string& input) {
  std::vector<std::string> all{"allot"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  pointers.reserve(all.size() + 1);
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  keep_reports();
  std::fflush(stdout);
  const Environment environment;
  const Stream in(STDIN_FILENO, input);
  const Stream out(STDOUT_FILENO);
  const Stream err(STDERR_FILENO);
  const int code = cli::run(static_cast<int>(all.size()), pointers.data());
  std::fflush(stdout);
  std::clearerr(stdin);
  return {{code, 0}, out.content(), err.content()};
}

}  // namespace allot::support

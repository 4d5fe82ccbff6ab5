// SPDX-License-Identifier: Apache-2.0
//
// digest: the payload is the path of a file; reports its size and SHA-256. The smallest real
// plugin, and the template for others.
//
//   [plugins.digest]
//   output = "/var/lib/allot/sums"   # optional: append "<sha256>  <path>" lines, as sha256sum does
#include <Poco/SHA2Engine.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <array>
#include <cerrno>
#include <cstring>

namespace {

struct File {
  explicit File(int opened) : fd(opened) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  const int fd;
};

std::string error_text(const std::string& path) {
  return path + ": " + std::strerror(errno);
}

class Digest : public allot::Handler {
 public:
  explicit Digest(const allot::Config& config) : output_(config.get("output")) {}

  allot::Outcome run(allot::Context& ctx) override {
    const std::string path(ctx.payload());
    if (path.find('\0') != std::string::npos) return allot::fail("the payload is not a path");
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.fd < 0) {
      // A missing file will still be missing on a retry, but a descriptor may be free then.
      const bool short_of_room = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      return short_of_room ? allot::retry(error_text(path)) : allot::fail(error_text(path));
    }
    struct stat status {};
    if (::fstat(file.fd, &status) != 0) return allot::retry(error_text(path));
    if (!S_ISREG(status.st_mode)) return allot::fail(path + ": not a regular file");

    Poco::SHA2Engine engine(Poco::SHA2Engine::SHA_256);
    std::size_t size = 0;
    for (;;) {
      if (ctx.stop_requested()) return allot::retry("stopped half way", std::chrono::seconds(0));
      const ssize_t got = ::read(file.fd, buffer_.data(), buffer_.size());
      if (got < 0) return allot::retry(error_text(path));
      if (got == 0) break;
      engine.update(buffer_.data(), static_cast<unsigned>(got));
      size += static_cast<std::size_t>(got);
    }
    const std::string sum = Poco::DigestEngine::digestToHex(engine.digest());
    ctx.info("path=" + path + " size=" + std::to_string(size) + " sha256=" + sum);
    return write_line(sum + "  " + path + "\n");
  }

 private:
  // A single write in append mode, so that lines of several workers do not mix.
  allot::Outcome write_line(const std::string& line) const {
    if (output_.empty()) return allot::success();
    const File out(::open(output_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (out.fd < 0) return allot::retry(error_text(output_));
    const ssize_t put = ::write(out.fd, line.data(), line.size());
    if (put < 0) return allot::retry(error_text(output_));
    if (put < static_cast<ssize_t>(line.size())) return allot::retry(output_ + ": disk is full");
    return allot::success();
  }

  std::string output_;
  std::array<char, std::size_t{256} << 10> buffer_{};
};

ALLOT_HANDLER("digest", Digest)

}  // namespace

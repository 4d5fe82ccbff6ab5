// SPDX-License-Identifier: Apache-2.0
//
// A handler that leaks.
//   [plugins.hoard]
//   output = "FILE"    where each task writes the pid of its worker
// The payload is the number of MiB that it takes and keeps; hang: it waits to be killed.
#include <poll.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace {

class Hoard : public allot::Handler {
 public:
  explicit Hoard(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.payload() == "hang") ::poll(nullptr, 0, 600'000);
    kept_.emplace_back(std::stoul(std::string(ctx.payload())) << 20U, 'x');
    // The line goes out in one write, so that lines of two workers do not mix.
    std::ofstream(output_, std::ios::app) << std::to_string(::getpid()) + "\n";
    return allot::success();
  }

 private:
  std::string output_;
  std::vector<std::vector<char>> kept_;
};

ALLOT_PLUGIN("hoard", "1.0")
ALLOT_HANDLER("hoard.keep", Hoard)

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "consumer/installed.h"

#include <chrono>

namespace allot {

const std::string& InstalledTest::prefix() {
  static const support::TempDir kFolder;
  static const std::string kPrefix = kFolder / "prefix";
  static const std::string kLog =
      must({ALLOT_CMAKE, "--install", ALLOT_BUILD_DIR, "--prefix", kPrefix});
  return kPrefix;
}

std::string InstalledTest::must(const Words& words, const support::ProcessOptions& options) {
  const auto done = support::run_program(words, options, std::chrono::seconds(240));
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << testing::PrintToString(words) << "\n"
                                                      << done.out << done.err;
  return done.out;
}

std::string InstalledTest::build(const std::string& project, const Words& options) const {
  Words configure{ALLOT_CMAKE,
                  "-S",
                  project,
                  "-B",
                  work_ / "build",
                  "-DCMAKE_PREFIX_PATH=" + prefix(),
                  std::string("-DCMAKE_CXX_COMPILER=") + ALLOT_CXX,
                  "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Werror"};
  configure.insert(configure.end(), options.begin(), options.end());
  must(configure);
  must({ALLOT_CMAKE, "--build", work_ / "build"});
  return work_ / "build";
}

}  // namespace allot

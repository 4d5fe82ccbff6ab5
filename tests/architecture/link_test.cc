// SPDX-License-Identifier: Apache-2.0
// The supervisor cannot call forbidden functions, because no library with them is linked.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "architecture/source_files.h"
#include "support/process.h"

namespace allot::architecture {
namespace {

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

class LinkTest : public testing::Test {
 protected:
  static std::string readelf(const std::string& what) {
#ifdef ALLOT_SUPERVISOR
    const auto result = support::run_program({"readelf", what, "-W", ALLOT_SUPERVISOR});
    EXPECT_EQ(result.status, (support::ExitStatus{0, 0})) << result.err;
    return result.out;
#else
    return what;
#endif
  }
  void SetUp() override {
#ifndef ALLOT_SUPERVISOR
    GTEST_SKIP() << "allotd is not part of this build";
#endif
    if (!std::string(ALLOT_SANITIZERS).empty()) {
      GTEST_SKIP() << "a sanitizer's runtime is linked into this build";
    }
  }
};

TEST_F(LinkTest, TheSupervisorNeedsTheStandardLibrariesOnly) {
  const std::regex allowed(
      R"(libc\.so\..*|libm\.so\..*|libgcc_s\.so\..*|libstdc\+\+\.so\..*|ld-linux.*)");
  const auto needed = all_matches(readelf("-d"), std::regex(R"(\(NEEDED\).*\[(.+)\])"));
  EXPECT_FALSE(needed.empty());
  for (const std::string& library : needed) {
    EXPECT_TRUE(std::regex_match(library, allowed)) << library;
  }
}

// No thread, no plugin, no name resolution.
TEST_F(LinkTest, TheSupervisorCallsNothingThatItMustNot) {
  const auto undefined = all_matches(readelf("--dyn-syms"), std::regex(R"(\bUND (\w+))"));
  const std::set<std::string> called(undefined.begin(), undefined.end());
  EXPECT_EQ(called.count("fork") + called.count("vfork") + called.count("posix_spawn") +
                called.count("_Fork"),
            1U)
      << "the names of symbols are not read as this test thinks";
  for (const char* name : {"pthread_create", "dlopen", "dlsym", "getaddrinfo", "system", "popen"}) {
    EXPECT_EQ(called.count(name), 0U) << name;
  }
}

}  // namespace
}  // namespace allot::architecture

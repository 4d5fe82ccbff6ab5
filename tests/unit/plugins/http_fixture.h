// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <allot/testing.hpp>
#include <string>

#include "support/http_target.h"

namespace allot {

// A handler of plugins/http for the type "t", and targets made by the test.
class HttpTest : public testing::Test {
 protected:
  using Target = support::HttpTarget;
  using Peer = Target::Peer;

  // Like a worker.
  HttpTest() { ::signal(SIGPIPE, SIG_IGN); }

  // Settings with an allowed target, and additional keys of [plugins.http.types.t].
  static test::Settings settings(const std::string& origin, const test::Settings& more = {}) {
    test::Settings all = {{"allow", origin}, {"types.t.url", origin + "/x"}};
    for (const auto& [key, value] : more) all.emplace("types.t." + key, value);
    return all;
  }
  static test::Ran run(const Target& target, const test::Settings& more = {},
                       const test::Task& task = {}) {
    return test::Handler("t", settings(target.origin(), more)).run(task);
  }
  static bool begins(const std::string& text, const std::string& with) {
    return text.rfind(with, 0) == 0;
  }
};

}  // namespace allot

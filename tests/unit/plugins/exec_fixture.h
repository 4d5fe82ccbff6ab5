// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <allot/testing.hpp>
#include <string>

#include "support/temp_dir.h"

namespace allot {

// A handler of plugins/exec for the type "t" with a shell script as its command.
class ExecTest : public testing::Test {
 protected:
  // Additional keys of [plugins.exec.types.t].
  static test::Settings settings(const std::string& script, const test::Settings& more = {}) {
    test::Settings all = {
        {"types.t.command", "/bin/sh"}, {"types.t.command", "-c"}, {"types.t.command", script}};
    for (const auto& [key, value] : more) all.emplace("types.t." + key, value);
    return all;
  }
  static test::Ran run(const std::string& script, const test::Settings& more = {},
                       const test::Task& task = {}) {
    return test::Handler("t", settings(script, more)).run(task);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return support::read_file(folder_ / name);
  }

  support::TempDir folder_;
};

}  // namespace allot

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace allot {

using Words = std::vector<std::string>;

// This build, installed as an outsider gets it: once for all tests of this program.
class InstalledTest : public testing::Test {
 protected:
  [[nodiscard]] static const std::string& prefix();

  // Runs a program and expects that it succeeds; returns its standard output.
  static std::string must(const Words& words, const support::ProcessOptions& options = {});
  // Configures a project and builds it; returns its build folder.
  [[nodiscard]] std::string build(const std::string& project, const Words& options = {}) const;

  support::TempDir work_;
};

}  // namespace allot

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "config/settings.h"
#include "support/temp_dir.h"

namespace allot::config {

// Each test has a temporary folder, and ignores configurations named in the machine's environment.
class ConfigTest : public testing::Test {
 protected:
  ConfigTest();

  // Writes a file below the folder and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

  [[nodiscard]] Settings load_text(const std::string& text) const;

  // Error message of loading `text`, without the folder; the test fails if it loads.
  [[nodiscard]] std::string failure_of(const std::string& text) const;

  // Options that do not use /etc.
  [[nodiscard]] LoadOptions options() const;

  // Removes the folder of the test from a message.
  [[nodiscard]] std::string shortened(std::string message) const;

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

 private:
  support::TempDir folder_;
};

}  // namespace allot::config

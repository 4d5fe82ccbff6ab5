// SPDX-License-Identifier: Apache-2.0
#include "unit/config/fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace allot::config {

namespace fs = std::filesystem;

ConfigTest::ConfigTest() {
  ::unsetenv("ALLOT_CONFIG");
  ::unsetenv("RUNTIME_DIRECTORY");
  ::unsetenv("XDG_RUNTIME_DIR");
  ::unsetenv("CREDENTIALS_DIRECTORY");
}

std::string ConfigTest::write(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(folder()) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

LoadOptions ConfigTest::options() const {
  LoadOptions options;
  options.default_file = folder() + "/no-such-default.toml";
  return options;
}

Settings ConfigTest::load_text(const std::string& text) const {
  LoadOptions with_file = options();
  with_file.file = write("allot.toml", text);
  return load(with_file);
}

std::string ConfigTest::failure_of(const std::string& text) const {
  try {
    static_cast<void>(load_text(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitConfig);
    return shortened(error.what());
  }
  ADD_FAILURE() << "was accepted:\n" << text;
  return {};
}

std::string ConfigTest::shortened(std::string message) const {
  for (;;) {
    const std::size_t at = message.find(folder() + "/");
    if (at == std::string::npos) return message;
    message.erase(at, folder().size() + 1);
  }
}

}  // namespace allot::config

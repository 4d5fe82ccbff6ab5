// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace allot::support {
namespace {

// A unix socket's path has at most 107 bytes; this leaves room for names below the folder.
constexpr std::size_t kLongestParent = 50;

}  // namespace

TempDir::TempDir() {
  const char* parent = std::getenv("TMPDIR");
  if (parent == nullptr || *parent == '\0' || std::string_view(parent).size() > kLongestParent) {
    parent = "/tmp";
  }
  path_ = std::string(parent) + "/allot-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "mkdtemp " + path_);
  }
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::operator/(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

std::string TempDir::write(std::string_view name, std::string_view content) const {
  const std::string path = *this / name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::system_error(errno, std::generic_category(), "write " + path);
  return path;
}

std::string read_file(const std::string& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace allot::support

// SPDX-License-Identifier: Apache-2.0
// Not installed: writes etc/allot.toml and docs/configuration.md after a change of settings.def.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "config/document.h"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::string root = argv[1];
  const std::string path = root + "/docs/configuration.md";
  std::ifstream in(path);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string renewed = allot::config::renewed_page(page);
  if (renewed.empty()) {
    std::fprintf(stderr, "%s has no place for the tables\n", path.c_str());
    return 1;
  }
  std::ofstream page_file(path);
  std::ofstream example(root + "/etc/allot.toml");
  page_file << renewed << std::flush;
  example << allot::config::example_file() << std::flush;
  if (page_file && example) return 0;
  std::fprintf(stderr, "%s or etc/allot.toml cannot be written\n", path.c_str());
  return 1;
}

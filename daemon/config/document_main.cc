// SPDX-License-Identifier: Apache-2.0
// allot-config-doc ROOT writes etc/allot.toml and docs/configuration.md of the source tree ROOT
// from the rows of settings.def. Run by the target config-doc.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "config/document.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw allot::Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw allot::Error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: allot-config-doc ROOT\n", stderr);
    return allot::kExitUsage;
  }
  try {
    const std::string root = argv[1];
    const std::string page = root + "/docs/configuration.md";
    write(root + "/etc/allot.toml", allot::config::example_file());
    write(page, allot::config::renewed_page(read(page)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot-config-doc: %s\n", error.what());
    return allot::kExitFailure;
  }
  return allot::kExitOk;
}

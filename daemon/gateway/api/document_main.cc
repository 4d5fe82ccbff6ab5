// SPDX-License-Identifier: Apache-2.0
// Not installed: writes the reference section of docs/http.md after a change of the route table.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "gateway/api/route.h"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::string path = std::string(argv[1]) + "/docs/http.md";
  std::ifstream in(path);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string written = allot::gateway::api::with_reference(page);
  if (written.empty()) {
    std::fprintf(stderr, "%s has no place for the reference\n", path.c_str());
    return 1;
  }
  std::ofstream(path) << written;
  return 0;
}

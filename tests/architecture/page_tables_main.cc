// SPDX-License-Identifier: Apache-2.0
// allot-architecture-doc writes the generated tables of docs/rules.md, docs/architecture.md and
// sql/README.md in the source tree that it was built from. Run by the target architecture-doc.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "architecture/page_tables.h"

namespace {

void write(const char* page, const std::string& text) {
  const std::string path = std::string(ALLOT_SOURCE_FOLDER) + "/" + page;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main() {
  try {
    write(allot::architecture::kRulesPage, allot::architecture::renewed_rules());
    write(allot::architecture::kArchitecturePage, allot::architecture::renewed_architecture());
    write(allot::architecture::kSqlPage, allot::architecture::renewed_sql());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot-architecture-doc: %s\n", error.what());
    return 1;
  }
  return 0;
}

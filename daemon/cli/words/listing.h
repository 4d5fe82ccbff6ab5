// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/words/text.h"

namespace allot::cli {

// Output of a list: a table, or the documents of its rows with --json. The command provides the
// rows, from a database or a gateway.
class Listing {
 public:
  Listing(std::vector<std::string> heads, bool as_json);
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;
  ~Listing();

  // As Table::add().
  void add(nlohmann::json document, std::vector<std::string> cells,
           std::optional<std::size_t> alarming = {});

  void print() const;

 private:
  Table table_;
  std::vector<nlohmann::json> documents_;
  bool json_;
};

}  // namespace allot::cli

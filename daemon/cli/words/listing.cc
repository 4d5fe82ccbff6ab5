// SPDX-License-Identifier: Apache-2.0
#include "cli/words/listing.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/words/task_view.h"
#include "cli/words/terminal.h"

namespace allot::cli {

Listing::Listing(std::vector<std::string> heads, bool as_json)
    : table_(std::move(heads)), json_(as_json) {}

Listing::~Listing() = default;

void Listing::add(nlohmann::json document, std::vector<std::string> cells,
                  std::optional<std::size_t> alarming) {
  if (json_) {
    documents_.push_back(std::move(document));
  } else {
    table_.add(std::move(cells), alarming);
  }
}

void Listing::print() const {
  if (json_) return cli::print(documents_);
  std::printf("%s", table_.text(wants_colour(STDOUT_FILENO)).c_str());
}

}  // namespace allot::cli

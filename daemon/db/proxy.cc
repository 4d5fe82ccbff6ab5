// SPDX-License-Identifier: Apache-2.0
// Rule: S32.
#include "db/proxy.h"

#include <algorithm>
#include <cctype>

namespace allot::db {
namespace {

// ProxySQL answers this query itself, in exactly these bytes.
constexpr std::string_view kVersionComment = "select @@version_comment limit 1";

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

}  // namespace

std::string proxy_name(Connection& db) {
  if (contains(db.greeting(), "maxscale")) return "MaxScale";
  auto results = db.execute(kVersionComment);
  const auto row = results.front().next();
  return row && contains(row->text(0), "proxysql") ? "ProxySQL" : "";
}

void refuse_by_greeting(std::string_view greeting, const std::string& where) {
  if (!contains(greeting, "vitess")) return;
  throw DbError(kUnfitServer,
                "database at " + where +
                    " cannot be used: it is Vitess, which sends each statement to any session of a "
                    "pool, so that settings and locks of earlier statements are lost; connect to a "
                    "MySQL server directly",
                Phase::kConnect);
}

}  // namespace allot::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

// Facts by which a server is the writer of its data (S52). For connection.cc and writer.cc.
namespace allot::db {

class Row;

struct Standing {
  // Why it is not the writer, such as "is read-only"; empty: no reason found.
  std::string refusal{};
  bool read_only = false;
  // 0: no server is recorded there yet. nullopt: no schema, or an older one.
  std::optional<std::uint64_t> term{};
  // Term of the server that has superseded this one, as a steward marked it here; 0: no mark.
  std::uint64_t superseded_by = 0;
  // A node of a Galera cluster, whose nodes share one term.
  bool galera = false;
  // The term names another node, which is the writer while it is in the view.
  bool other_node = false;
};

// `role` is a row of read_role.sql, `term` one of read_term.sql.
[[nodiscard]] Standing standing_of(const Row& role, const std::optional<Row>& term);

// Whether the server is configured for Group Replication, by a row of read_role.sql.
[[nodiscard]] bool has_group(const Row& role);
// Reason from the row of read_member.sql of such a server. Empty: it is the primary.
[[nodiscard]] std::string member_refusal(const Row& member);

}  // namespace allot::db

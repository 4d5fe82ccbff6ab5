// SPDX-License-Identifier: Apache-2.0
#include "db/standing.h"

#include <string_view>

#include "db/connection.h"

namespace allot::db {
namespace {

// Columns of read_role.sql and read_term.sql.
enum RoleColumn : std::size_t {
  kRoleReadOnly,
  kRoleStorage,
  kRoleGroup,
  kRoleGalera,
  kRoleComponent,
  kRoleState,
  kRoleNode
};
enum TermColumn : std::size_t { kTermNumber, kTermNamed, kTermSupersededBy };

bool is_on(std::string_view value) {
  return value != "0" && value != "OFF";
}

// The number at the end of a name that node_name.sql made; empty: not a Galera name.
std::string_view node_in(std::string_view name) {
  constexpr std::string_view kMark = " node=";
  const std::size_t at = name.rfind(kMark);
  return at == std::string_view::npos ? std::string_view() : name.substr(at + kMark.size());
}

std::string galera_refusal(const Row& role) {
  const std::string component(role.text(kRoleComponent));
  const std::string state(role.text(kRoleState));
  if (component != "Primary") return "is not in the primary component of its Galera cluster";
  if (state != "Synced") return "is a Galera node that is not synced (" + state + ")";
  return {};
}

}  // namespace

Standing standing_of(const Row& role, const std::optional<Row>& term) {
  Standing standing;
  // Two switches: super_read_only sets the first; readers of a shared storage have only the second.
  if (is_on(role.text(kRoleReadOnly)) || is_on(role.text(kRoleStorage))) {
    standing.refusal = "is read-only";
    standing.read_only = true;
  }
  standing.galera = !role.text(kRoleGalera).empty();
  if (standing.galera && standing.refusal.empty()) standing.refusal = galera_refusal(role);
  if (!term) return standing;
  standing.term = term->u64(kTermNumber);
  standing.superseded_by = term->u64(kTermSupersededBy);
  const std::string_view named = node_in(term->text(kTermNamed));
  standing.other_node = standing.galera && !named.empty() && named != role.text(kRoleNode);
  return standing;
}

bool has_group(const Row& role) {
  return !role.text(kRoleGroup).empty();
}

std::string member_refusal(const Row& member) {
  if (member.text(0) == "ONLINE" && member.text(1) == "PRIMARY") return {};
  const std::string role(member.text(1).empty() ? "no role" : member.text(1));
  return "is not the primary of its group (Group Replication): " + role + ", " +
         std::string(member.text(0));
}

}  // namespace allot::db

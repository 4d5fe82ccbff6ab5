// SPDX-License-Identifier: Apache-2.0
#include "db/lent_session.h"

#include <errmsg.h>
#include <mysql.h>

namespace allot::db {
namespace {

constexpr std::string_view kBinary = "_binary";

char unescaped(char c) {
  for (const auto& [character, escape] : kEscaped) {
    if (escape == c) return character;
  }
  return c;
}

// Appends the literal that begins at `at` in hexadecimal; returns its end.
std::size_t append_hex(std::string_view sql, std::size_t at, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += out.ends_with(kBinary) ? " x'" : "_utf8mb4 x'";
  for (++at; at < sql.size() && sql[at] != '\''; ++at) {
    const auto byte = static_cast<unsigned char>(sql[at] == '\\' ? unescaped(sql[++at]) : sql[at]);
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  out += '\'';
  return at + 1;
}

bool has_transaction(const st_mysql& handle) {
  return (handle.server_status & SERVER_STATUS_IN_TRANS) != 0 ||
         (handle.server_status & SERVER_STATUS_AUTOCOMMIT) == 0;
}

[[noreturn]] void refuse(const char* why) {
  throw Error(std::string("session: ") + why, kExitBadInput);
}

}  // namespace

std::string portable(std::string_view sql) {
  std::string out;
  out.reserve(2 * sql.size());
  for (std::size_t at = 0; at < sql.size();) {
    if (sql[at] == '\'') {
      at = append_hex(sql, at, out);
    } else {
      out += sql[at++];
    }
  }
  return out;
}

LentSession::LentSession(st_mysql& handle, const std::string& database)
    : handle_(handle), connection_(handle) {
  std::string selected;
  try {
    selected = connection_.inspect_lent();
  } catch (const DbError& error) {
    if (error.number() != CR_COMMANDS_OUT_OF_SYNC) throw;
    refuse("a result was not read to its end; read or free it first");
  }
  if (!has_transaction(handle)) {
    refuse(
        "no transaction is open, so a failure could not be rolled back; begin one, or use "
        "submit()");
  }
  connection_.execute("SAVEPOINT allot_submit");
  if (selected == database) return;
  connection_.select_database(database);
  selected_before_ = selected;
}

LentSession::~LentSession() {
  if (!selected_before_.empty()) mysql_select_db(&handle_, selected_before_.c_str());
}

bool LentSession::undo() {
  try {
    connection_.execute("ROLLBACK TO SAVEPOINT allot_submit");
    return true;
  } catch (const DbError&) {
    return false;  // the savepoint was lost with the transaction or the connection
  }
}

}  // namespace allot::db

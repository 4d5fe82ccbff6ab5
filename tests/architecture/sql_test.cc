// SPDX-License-Identifier: Apache-2.0
// SQL is in sql/, where it is read as SQL and its plans are tested, and every statement is used.
// Rule: S32.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "architecture/page_tables.h"
#include "architecture/source_files.h"
#include "sql/queries.h"

namespace allot::architecture {
namespace {

// Places where a program may contain SQL: sessions and migrations, and the database of the embedded
// server, which a file of sql/ could not create.
bool may_speak_sql(const SourceFile& file, const std::string& literal) {
  return file.in("daemon/db/") ||
         (file.in("daemon/embedded/") && literal.starts_with("CREATE DATABASE"));
}

std::vector<std::string> sql_in(const SourceFile& file) {
  static const std::regex kSql(
      R"(\b(SELECT\s.*|INSERT\s.*INTO|REPLACE\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|)"
      R"((CREATE|ALTER|DROP|TRUNCATE)\s+(TABLE|DATABASE|INDEX|USER)|SHOW\s+\w+|KILL\s+\w+)\b)");
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    for (const std::string& literal : literals_of(file.lines[i])) {
      if (std::regex_search(literal, kSql) && !may_speak_sql(file, literal)) {
        findings.push_back(file.at(i) + literal);
      }
    }
  }
  return findings;
}

TEST(SqlTest, StandsInSqlFiles) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sources_below({"client", "daemon", "plugins"})) {
    for (std::string& finding : sql_in(file)) findings.push_back(std::move(finding));
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(SqlTest, InASourceIsFound) {
  const auto found = [](const std::string& path, const std::string& line) {
    return sql_in(made_up(path, line)).size();
  };
  EXPECT_EQ(found("daemon/queue/x.cc", "db.execute(\"SELECT 1\");"), 1U);
  EXPECT_EQ(found("daemon/queue/x.cc", "db.execute(\"DELETE FROM task\");"), 1U);
  EXPECT_EQ(found("daemon/cli/x.cc", "f(\"a\", \"INSERT IGNORE INTO task VALUES\");"), 1U);
  EXPECT_EQ(found("daemon/worker/x.cc", "f(\"UPDATE task SET attempt = 1\");"), 1U);
  EXPECT_EQ(found("daemon/worker/x.cc", "// \"SELECT 1\""), 0U);
  EXPECT_EQ(found("daemon/worker/x.cc", "db.execute(\"COMMIT\"); say(\"please SELECT\");"), 0U);
  EXPECT_EQ(found("daemon/db/x.cc", "db.execute(\"SELECT 1\");"), 0U);
  EXPECT_EQ(found("daemon/embedded/x.cc", "db.execute(\"CREATE DATABASE x\");"), 0U);
  EXPECT_EQ(found("daemon/embedded/x.cc", "db.execute(\"CREATE TABLE x\");"), 1U);
}

// Statements of a query with its fragments expanded, without comments and without hints, which do
// not change the meaning.
std::vector<std::string> statements_of(const std::string& text) {
  static const std::regex kComment(R"(--[^\n]*|/\*\+[^*]*\*/ )");
  std::vector<std::string> statements(1);
  for (const char c : std::regex_replace(text, kComment, "")) {
    statements.back() += c;
    if (c == ';') statements.emplace_back();
  }
  if (statements.back().find_first_not_of(" \n") == std::string::npos) statements.pop_back();
  return statements;
}

// State that one statement leaves for another one of its connection. If the client is killed, the
// server continues with the packet: a transaction in one trip that depends on such state does half
// of its work. So statements may depend only on data. LAST_INSERT_ID(expr) only informs the client.
bool depends_on_session(const std::string& statement) {
  static const std::regex kState(R"(\b(ROW_COUNT|FOUND_ROWS)\s*\(|\bLAST_INSERT_ID\s*\(\s*\)|)"
                                 R"((^|[^@])@[A-Za-z_`'"]|@@(identity|last_insert_id|error_count|)"
                                 R"(warning_count)|:=)",
                                 std::regex::icase);
  return std::regex_search(statement, kState);
}

// Writes to the tables of tasks need the fence.
bool writes_tasks(const std::string& statement) {
  static const std::regex kWrite(
      R"(^\s*(INSERT\s+(IGNORE\s+)?INTO|REPLACE\s+INTO|UPDATE|DELETE\s+FROM)\s+task(_\w+)?\b)",
      std::regex::icase);
  return std::regex_search(statement, kWrite);
}

// S1: epoch, holder and state, with a lock on the row that has them. A scalar subquery: MySQL turns
// EXISTS into a join, and a DELETE then deletes the lease as well.
bool is_fenced(const std::string& statement) {
  static const std::regex kFence(
      R"(AND \(SELECT 1 FROM q_lock_table\s+)"
      R"(WHERE queue_id = :queue_id AND partition_no = :partition_no\s+)"
      R"(AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE' FOR UPDATE\) = 1)");
  return std::regex_search(statement, kFence);
}

// A detached task is its own lease: its row has epoch and holder, and the statement writes it, or
// locks it while reading.
bool is_fenced_as_detached(const std::string& statement) {
  static const std::regex kFence(
      R"(^\s*(UPDATE|DELETE FROM) task_running\b[^;]*AND epoch = :epoch AND lock_by = :holder;|)"
      R"(^\s*UPDATE task_running\b[^;]*AND epoch = :seen_epoch AND expire_at = :seen_expire_at|)"
      R"(FROM task_running\b[^;]*\bepoch = :epoch AND (running\.)?lock_by = :holder\s+FOR UPDATE)");
  return std::regex_search(statement, kFence);
}

// A dead task has no holder: the statement locks its row while reading, or deletes it.
bool is_fenced_as_dead(const std::string& statement) {
  static const std::regex kFence(
      R"(FROM task_dead\b[^;]*\bFOR UPDATE|^\s*DELETE FROM task_dead\b)");
  return std::regex_search(statement, kFence);
}

// Queries without a fence: a finished task is finished (S6), a new one has no holder, an operator
// takes a task from any holder, the first submitter claims a unique key and the end of its task
// stamps it, the time of a key that is taken for too long is cut, a forgotten row has no owner, a
// query that matches no row changes nothing, and a rehearsal uses no real queue and is rolled back.
bool needs_no_fence(const std::string& query) {
  return query == "ack" || query == "ack_history" || query == "submit" ||
         query == "require_rights" || query == "cancel" || query == "cancel_as_done" ||
         query == "request_cancel" || query == "clear_cancel" || query == "reserve_key" ||
         query == "submit_unique" || query == "stamp_unique" || query == "rehearse" ||
         query == "keep_history" || query == "purge_history" || query == "purge_unique" ||
         query == "bound_unique";
}

template <typename Check>
void for_each_statement(Check check) {
  for (const sql::SqlText* query : sql::kAll) {
    for (const std::string& statement : statements_of(std::string(query->text))) {
      check(std::string(query->name), statement);
    }
  }
}

TEST(SqlTest, NoStatementDependsOnWhatAnotherOneLeftInTheSession) {
  for_each_statement([](const std::string& query, const std::string& statement) {
    // Records a tick without acting: the key of the task created by the same packet.
    if (query == "inserted_key") return;
    EXPECT_FALSE(depends_on_session(statement)) << query << ": " << statement;
  });
  for (const char* bad :
       {"DELETE FROM task WHERE ROW_COUNT() = 1;", "SELECT @moved;", "SET @moved := 1;",
        "SELECT run_key INTO @key FROM task;", "UPDATE task SET run_key = LAST_INSERT_ID( );",
        "DELETE FROM task WHERE row_count () = 1;", "SELECT @@last_insert_id;"}) {
    EXPECT_TRUE(depends_on_session(bad)) << bad;
  }
  EXPECT_FALSE(depends_on_session("SELECT LAST_INSERT_ID(4711), @@global.max_connections;"));
}

TEST(SqlTest, EveryWriteOnTasksHasTheFence) {
  for_each_statement([](const std::string& query, const std::string& statement) {
    if (!writes_tasks(statement) || needs_no_fence(query)) return;
    const bool of_the_dead =
        query == "retry_dead" || query == "discard_dead" || query == "purge_dead";
    EXPECT_TRUE((of_the_dead && is_fenced_as_dead(statement)) || is_fenced(statement) ||
                is_fenced_as_detached(statement))
        << query << ": " << statement;
  });
  for (const sql::SqlText& query :
       {sql::k_ack_detached, sql::k_return_detached, sql::k_retry_detached}) {
    for (const std::string& end : statements_of(std::string(query.text))) {
      for (const char* part : {"epoch = :epoch", "lock_by = :holder", "FOR UPDATE"}) {
        std::string leaking = end;
        if (leaking.find(part) == std::string::npos) continue;  // a DELETE locks by itself
        leaking.erase(leaking.rfind(part), std::string(part).size());
        EXPECT_FALSE(is_fenced_as_detached(leaking)) << leaking;
      }
    }
  }
  const std::string sound = statements_of(std::string(sql::k_charge.text)).at(0);
  EXPECT_TRUE(writes_tasks(sound) && is_fenced(sound));
  for (const char* part :
       {"epoch = :epoch AND ", "lock_by = :holder AND ", " AND state <> 'FREE'", " FOR UPDATE"}) {
    std::string leaking = sound;
    leaking.erase(leaking.find(part), std::string(part).size());
    EXPECT_FALSE(is_fenced(leaking)) << leaking;
  }
}

// On MySQL a write with EXISTS in its WHERE may become a join, which then deletes from both tables,
// or waits for rows that it should skip; a scalar subquery does not. See docs/database.md.
bool may_become_a_join(const std::string& statement) {
  static const std::regex kWrite(R"(^\s*(INSERT|REPLACE|UPDATE|DELETE)\b)", std::regex::icase);
  static const std::regex kJoin(
      R"(\b(AND|WHERE)\s+(NOT\s+)?(EXISTS\b|\w+\s+(NOT\s+)?IN\s*\(\s*SELECT\b))",
      std::regex::icase);
  return std::regex_search(statement, kWrite) && std::regex_search(statement, kJoin);
}

TEST(SqlTest, NoWriteMayBecomeAJoin) {
  for_each_statement([](const std::string& query, const std::string& statement) {
    EXPECT_FALSE(may_become_a_join(statement)) << query << ": " << statement;
  });
  EXPECT_TRUE(may_become_a_join("DELETE FROM a WHERE b = 1 AND EXISTS (SELECT 1 FROM c)"));
  EXPECT_TRUE(may_become_a_join("UPDATE a SET b = 1\n WHERE NOT EXISTS (SELECT 1 FROM c)"));
  EXPECT_TRUE(may_become_a_join("DELETE FROM a WHERE b IN (SELECT b FROM c)"));
  EXPECT_FALSE(may_become_a_join("DELETE FROM a WHERE b = 1 AND (SELECT 1 FROM c) = 1"));
}

struct Assignment {
  std::string column;
  std::string value;
};

// Assignments of an UPDATE or of ON DUPLICATE KEY UPDATE, in their order.
std::vector<Assignment> assignments_of(const std::string& statement) {
  static const std::regex kBegin(R"(\bUPDATE\s+\w+(\s+AS\s+\w+)?\s+SET\s|\bKEY UPDATE\s)");
  static const std::regex kEnd(R"(^\s(WHERE|ORDER BY|LIMIT)\b)");
  std::smatch begin;
  if (!std::regex_search(statement, begin, kBegin)) return {};
  const std::string text = begin.suffix();
  std::vector<Assignment> found(1);
  int depth = 0;
  bool valued = false;
  for (std::size_t at = 0; at < text.size() && text[at] != ';'; ++at) {
    if (depth == 0 && std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                        kEnd, std::regex_constants::match_continuous)) {
      break;
    }
    depth += (text[at] == '(') - (text[at] == ')');
    if (depth == 0 && text[at] == ',') {
      found.emplace_back();
      valued = false;
    } else if (!valued && text[at] == '=') {
      valued = true;
    } else if (!valued && std::isspace(static_cast<unsigned char>(text[at])) == 0) {
      found.back().column += text[at];
    } else if (valued) {
      found.back().value += text[at];
    }
  }
  return found;
}

// Columns that an assignment reads after an earlier one has set them. MariaDB and MySQL then use
// the new value, and other engines (TiDB) the former one. VALUES(column) and :column do not read
// the column.
std::vector<std::string> read_after_set(const std::string& statement) {
  static const std::regex kOther(R"(VALUES\(\w+\)|:\w+|'[^']*')");
  std::vector<std::string> found;
  std::vector<std::string> set;
  for (const Assignment& one : assignments_of(statement)) {
    const std::string value = std::regex_replace(one.value, kOther, "");
    for (const std::string& column : set) {
      if (std::regex_search(value, std::regex("\\b" + column + "\\b(?!\\()"))) {
        found.push_back(column);
      }
    }
    set.push_back(one.column);
  }
  return found;
}

TEST(SqlTest, NoAssignmentDependsOnItsPlace) {
  for_each_statement([](const std::string& query, const std::string& statement) {
    for (const std::string& column : read_after_set(statement)) {
      // It is read only where it keeps its value, or where COALESCE makes both the same.
      if (query == "reserve_key" && column == "unique_for_us") continue;
      if (column == "first_key" &&
          statement.find("COALESCE(first_key, run_key)") != std::string::npos)
        continue;
      ADD_FAILURE() << query << ": " << column << " in " << statement;
    }
  });
  using Columns = std::vector<std::string>;
  EXPECT_EQ(read_after_set("UPDATE t SET a = 1,\n b = IF(c, a, 2) WHERE a = 1;"), Columns{"a"});
  EXPECT_EQ(read_after_set("UPDATE t SET b = a + 1, a = 2\n WHERE b = 1"), Columns{});
  EXPECT_EQ(read_after_set("UPDATE t SET a = :a, b = 'a', c = aa, d = t.b LIMIT 1"), Columns{"b"});
  EXPECT_EQ(read_after_set("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1, b = VALUES(a)"),
            Columns{});
}

// MySQL scans a whole small table for a list of keys, and waits for the rows of others in it,
// unless the statement names its index. See sql_safe_updates in sql/README.md.
std::vector<std::string> lists_without_index(const std::string& text) {
  static const std::regex kComment("--[^\n]*");
  static const std::regex kWrite(R"(\b(UPDATE|DELETE FROM) [a-z_]+\b[^;]*:([a-z]+_)?keys\b)");
  const std::string sql = std::regex_replace(text, kComment, "");
  std::vector<std::string> found;
  for (std::sregex_iterator at(sql.begin(), sql.end(), kWrite), end; at != end; ++at) {
    found.push_back(at->str());
  }
  static const std::regex kLocking(
      R"(\bFROM [a-z_]+\s+WHERE[^;]*:([a-z]+_)?keys\b[^;]*\)\s+(FOR UPDATE|LOCK IN SHARE MODE))");
  for (std::sregex_iterator at(sql.begin(), sql.end(), kLocking), end; at != end; ++at) {
    found.push_back(at->str());
  }
  return found;
}

// TiDB's LEAST and GREATEST compare unsigned numbers as signed ones (decision 0006).
TEST(SqlTest, TheLargestNumberIsOnlyALimit) {
  const std::string largest = "18446744073709551615";
  const auto others = [&](std::string text) {
    text = std::regex_replace(text, std::regex("LIMIT " + largest), "");
    return text.find(largest) != std::string::npos;
  };
  for_each_statement([&](const std::string& query, const std::string& statement) {
    EXPECT_FALSE(others(statement)) << query << ": " << statement;
  });
  EXPECT_TRUE(others("SELECT LEAST(run_key, 18446744073709551615) LIMIT 18446744073709551615"));
}

TEST(SqlTest, EveryWriteOfAListSaysWhichIndexItTakes) {
  for (const sql::SqlText* query : sql::kAll) {
    const auto found = lists_without_index(std::string(query->text));
    EXPECT_TRUE(found.empty()) << query->name << joined(found);
  }
  EXPECT_EQ(lists_without_index("DELETE FROM t\n WHERE a = 1 AND (:keys);").size(), 1U);
  EXPECT_EQ(lists_without_index("UPDATE t SET a = 1 WHERE (:first_keys);").size(), 1U);
  EXPECT_EQ(lists_without_index("SELECT 1 FROM t WHERE (:keys)\n FOR UPDATE;").size(), 1U);
  EXPECT_EQ(lists_without_index("DELETE /*+ INDEX(t PRIMARY) */ FROM t WHERE (:keys);").size(), 0U);
  EXPECT_EQ(lists_without_index("DELETE FROM t WHERE a = 1; SELECT 1 WHERE (:keys);").size(), 0U);
}

// The lease's own row: its holder identifies it by epoch and holder, a new holder by the values
// that it saw.
TEST(SqlTest, EveryWriteOnALeaseNamesItsHolder) {
  for_each_statement([](const std::string& query, const std::string& statement) {
    if (statement.find("UPDATE q_lock_table") == std::string::npos) return;
    const auto has = [&](const char* text) { return statement.find(text) != std::string::npos; };
    const bool free = has("AND (state = 'FREE' OR lock_by = :holder)");
    const bool seen = has("epoch = :seen_epoch AND expire_at = :seen_expire_at");
    const bool former = has("lock_origin = :origin AND state <> 'FREE'");
    const bool held = has("AND epoch = :epoch AND lock_by = :holder AND state <> 'FREE'");
    // A partition that waits for a former layout has no holder and may not be leased.
    const bool waiting =
        query == "defer_layout" ? has("AND state = 'FREE'") : query == "lift_layout";
    const bool released = query == "bound_release" && has("AND state = 'FREE'");
    EXPECT_TRUE(free || seen || former || held || waiting || released || query == "require_rights")
        << query << ": " << statement;
  });
}

// True if `text` contains `word` as a whole word.
bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char next = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (next != '_' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

TEST(SqlTest, EveryFileIsUsed) {
  EXPECT_FALSE(has_word("sql::k_ack_history sql::k_acks", "sql::k_ack"));

  std::string all;
  for (const SourceFile& file : sources_below({"daemon"})) {
    for (const std::string& line : file.lines) all += line + "\n";
  }
  std::size_t files = 0;
  const std::string folder = std::string(ALLOT_SOURCE_FOLDER) + "/sql/queries";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ASSERT_EQ(entry.path().extension(), ".sql") << entry.path();
    EXPECT_TRUE(has_word(all, "sql::k_" + entry.path().stem().string()))
        << entry.path().filename() << " is not used";
    ++files;
  }
  EXPECT_GT(files, 20U);
}

// Text of a single statement belongs into that statement.
TEST(SqlTest, EveryFragmentIsUsedTwice) {
  std::string all;
  std::vector<std::string> names;
  for (const char* folder : {"queries", "procedures", "fragments"}) {
    const std::string path = std::string("sql/") + folder;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(ALLOT_SOURCE_FOLDER) + "/" + path)) {
      all += text_of(path + "/" + entry.path().filename().string());
      if (std::string(folder) == "fragments") names.push_back(entry.path().stem().string());
    }
  }
  for (const std::string& name : names) {
    const auto first = all.find('{' + name);
    ASSERT_NE(first, std::string::npos) << name;
    EXPECT_NE(all.find('{' + name, first + 1), std::string::npos) << name;
  }
  EXPECT_FALSE(names.empty());
}

// Procedures must not depend on the caller's session, and a trigger may not call one that could
// commit: see sql/README.md.
TEST(SqlTest, ProceduresFitAnySession) {
  const std::string readme = text_of("sql/README.md");
  std::size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(ALLOT_SOURCE_FOLDER) + "/sql/procedures")) {
    const std::string name = entry.path().stem().string();
    const std::string text = text_of("sql/procedures/" + entry.path().filename().string());
    EXPECT_NE(text.find("{procedure " + name + "}("), std::string::npos) << name;
    EXPECT_TRUE(text.find("SQL SECURITY DEFINER") != std::string::npos ||
                text.find("{internal ") != std::string::npos)
        << name;
    // It reads the server's identity from global variables, in a prepared statement, and only
    // outside of a transaction.
    const bool asks_server = name == "allot_note_server";
    for (const std::string word :
         {"PREPARE", "TEMPORARY", "ROW_COUNT", "LAST_INSERT_ID", "@", "NOW("}) {
      if (asks_server && (word == "PREPARE" || word == "@")) continue;
      EXPECT_EQ(text.find(word), std::string::npos) << name << ": " << word;
    }
    // MDEV-35614 (sql/fragments/json_text.sql).
    for (std::size_t at = 0; (at = text.find("JSON_UNQUOTE(", at)) != std::string::npos; ++at) {
      EXPECT_EQ(text.substr(at - 9, 9), "/*!80000 ") << name;
    }
    const bool alone = name.ends_with("_autocommit");
    EXPECT_EQ(text.find("COMMIT"), std::string::npos) << name;
    EXPECT_EQ(text.find("{in_own_transaction ") != std::string::npos, alone) << name;
    EXPECT_TRUE(has_word(readme, name) || alone) << name;
    ++files;
  }
  EXPECT_GT(files, 10U);
  const std::string own = text_of("sql/fragments/in_own_transaction.sql");
  EXPECT_NE(own.find("COMMIT AND NO CHAIN NO RELEASE;"), std::string::npos);
  EXPECT_EQ(own.find("COMMIT"), own.rfind("COMMIT"));
}

TEST(SqlTest, TheReadmeListsTheStatements) {
  EXPECT_TRUE(text_of(kSqlPage) == renewed_sql())
      << kSqlPage << " is stale: run  cmake --build build/dev --target architecture-doc";
  EXPECT_EQ(first_sentence("-- A is b.sql, or c. D.\n-- E.\nSELECT 1;\n"), "A is b.sql, or c");
  EXPECT_EQ(first_sentence("-- A\n-- b.\nSELECT 1;\n-- c.\n"), "A b");
  EXPECT_EQ(first_sentence("-- Rule: S1.\nSELECT 1;\n"), "");
  EXPECT_EQ(first_sentence("SELECT 1;\n"), "");
}

TEST(SqlTest, EveryFileIsInTheReadme) {
  const std::string readme = text_of("sql/README.md");
  const std::string folder = std::string(ALLOT_SOURCE_FOLDER) + "/sql/queries";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(has_word(readme, entry.path().stem().string())) << entry.path().filename();
  }
}

}  // namespace
}  // namespace allot::architecture

// SPDX-License-Identifier: Apache-2.0
#include "db/prepared.h"

#include <mysql.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "db/connection.h"

namespace allot::db {
namespace {

// bool or char: connectors differ.
using Flag = std::remove_pointer_t<decltype(MYSQL_BIND::is_null)>;

constexpr unsigned long kLeastField = 64;

struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
using Prepared = std::unique_ptr<MYSQL_STMT, CloseStatement>;

struct FreeResult {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};

// The handler's transaction is open, and ends in commit().
[[noreturn]] void fail(MYSQL_STMT& statement) {
  const unsigned number = mysql_stmt_errno(&statement);
  throw DbError(number,
                std::string("a handler's statement: ") + mysql_stmt_error(&statement) + " (error " +
                    std::to_string(number) + ")",
                Phase::kStatement);
}

void check(MYSQL_STMT& statement, int failed) {
  if (failed != 0) fail(statement);
}

void bind_bytes(MYSQL_BIND& bind, enum_field_types type, std::string_view bytes) {
  bind.buffer_type = type;
  bind.buffer = const_cast<char*>(bytes.data());  // only read
  bind.buffer_length = static_cast<unsigned long>(bytes.size());
}

template <typename Number>
void bind_number(MYSQL_BIND& bind, enum_field_types type, const Number& number) {
  bind.buffer_type = type;
  bind.buffer = const_cast<Number*>(&number);  // only read
  bind.is_unsigned = static_cast<Flag>(std::is_unsigned_v<Number>);
}

MYSQL_BIND bound(const Value& value) {
  MYSQL_BIND bind{};
  std::visit(
      [&bind](const auto& of) {
        using T = std::decay_t<decltype(of)>;
        if constexpr (std::is_same_v<T, std::nullptr_t>) {
          bind.buffer_type = MYSQL_TYPE_NULL;
        } else if constexpr (std::is_same_v<T, double>) {
          bind_number(bind, MYSQL_TYPE_DOUBLE, of);
        } else if constexpr (std::is_integral_v<T>) {
          bind_number(bind, MYSQL_TYPE_LONGLONG, of);
        } else if constexpr (std::is_same_v<T, Bytes>) {
          bind_bytes(bind, MYSQL_TYPE_BLOB, of.data);
        } else {
          bind_bytes(bind, MYSQL_TYPE_STRING, of);
        }
      },
      value);
  return bind;
}

// The rows of one result, each field fetched as text.
class Rows {
 public:
  Rows(MYSQL_STMT& statement, const MYSQL_RES& meta)
      : statement_(statement),
        count_(mysql_num_fields(const_cast<MYSQL_RES*>(&meta))),
        binds_(count_),
        buffers_(count_),
        lengths_(count_),
        nulls_(count_) {
    const MYSQL_FIELD* fields = mysql_fetch_fields(const_cast<MYSQL_RES*>(&meta));
    for (unsigned i = 0; i < count_; ++i) {
      buffers_[i].resize(std::max(fields[i].max_length, kLeastField));
      point_to(i);
    }
    check(statement_, mysql_stmt_bind_result(&statement_, binds_.data()));
  }

  void give(const RowSink& sink) {
    std::vector<std::optional<std::string_view>> row(count_);
    for (;;) {
      const int got = mysql_stmt_fetch(&statement_);
      if (got == MYSQL_NO_DATA) return;
      if (got == 1) fail(statement_);
      for (unsigned i = 0; i < count_; ++i) row[i] = field(i);
      if (sink) sink(row);
    }
  }

 private:
  void point_to(unsigned i) {
    binds_[i].buffer_type = MYSQL_TYPE_STRING;
    binds_[i].buffer = buffers_[i].data();
    binds_[i].buffer_length = static_cast<unsigned long>(buffers_[i].size());
    binds_[i].length = &lengths_[i];
    binds_[i].is_null = &nulls_[i];
  }
  std::optional<std::string_view> field(unsigned i) {
    if (nulls_[i] != 0) return std::nullopt;
    if (lengths_[i] > buffers_[i].size()) {
      buffers_[i].resize(lengths_[i]);
      point_to(i);
      check(statement_, mysql_stmt_fetch_column(&statement_, &binds_[i], i, 0));
      check(statement_, mysql_stmt_bind_result(&statement_, binds_.data()));
    }
    return std::string_view(buffers_[i].data(), lengths_[i]);
  }

  MYSQL_STMT& statement_;
  unsigned count_;
  std::vector<MYSQL_BIND> binds_;
  std::vector<std::string> buffers_;
  std::vector<unsigned long> lengths_;
  std::deque<Flag> nulls_;  // elements of vector<bool> (Flag of MySQL) have no addresses
};

void read_results(MYSQL_STMT& statement, const RowSink& sink) {
  for (;;) {
    if (mysql_stmt_field_count(&statement) > 0) {
      check(statement, mysql_stmt_store_result(&statement));
      const std::unique_ptr<MYSQL_RES, FreeResult> meta(mysql_stmt_result_metadata(&statement));
      if (!meta) fail(statement);
      Rows(statement, *meta).give(sink);
      mysql_stmt_free_result(&statement);
    }
    // A procedure may return several results, and ends with one without fields.
    const int more = mysql_stmt_next_result(&statement);
    if (more < 0) return;
    check(statement, more);
  }
}

}  // namespace

Changed Connection::execute_prepared(std::string_view sql, std::span<const Value> values,
                                     const RowSink& sink) {
  const Prepared prepared(mysql_stmt_init(handle_.get()));
  if (!prepared) fail("a handler's statement", Phase::kStatement);
  MYSQL_STMT& statement = *prepared;
  check(statement,
        mysql_stmt_prepare(&statement, sql.data(), static_cast<unsigned long>(sql.size())));
  const std::size_t wanted = mysql_stmt_param_count(&statement);
  if (wanted != values.size()) {
    throw Error("the statement has " + std::to_string(wanted) + " '?' placeholders, but " +
                    std::to_string(values.size()) + " values were given",
                kExitBadInput);
  }
  std::vector<MYSQL_BIND> binds;
  for (const Value& value : values) binds.push_back(bound(value));
  if (!binds.empty()) check(statement, mysql_stmt_bind_param(&statement, binds.data()));
  const Flag measure = 1;
  mysql_stmt_attr_set(&statement, STMT_ATTR_UPDATE_MAX_LENGTH, &measure);
  check(statement, mysql_stmt_execute(&statement));
  const Changed changed{mysql_stmt_affected_rows(&statement), mysql_stmt_insert_id(&statement)};
  const bool gives_rows = mysql_stmt_field_count(&statement) > 0;
  read_results(statement, sink);
  return gives_rows ? Changed{} : changed;
}

}  // namespace allot::db

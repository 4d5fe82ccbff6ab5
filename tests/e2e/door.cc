// SPDX-License-Identifier: Apache-2.0
#include "e2e/door.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "db/statement.h"
#include "support/eventually.h"

namespace allot::e2e {
namespace {

std::string quoted(const std::string& bytes) {
  return db::Statement::quoted(bytes);
}

// As fields of an object, from `"unique_key"` on; empty when there is none.
std::string options_json(const Order& order, const std::string& before) {
  std::string fields;
  const auto add = [&](const std::string& name, const std::string& text) {
    fields += (fields.empty() ? before : ", ") + json_text(name) + ": " + json_text(text);
  };
  if (order.unique_key) add("unique_key", *order.unique_key);
  if (order.partition_key) add("partition_key", *order.partition_key);
  if (order.delay_seconds != 0) add("delay", std::to_string(order.delay_seconds) + "s");
  if (!order.unknown.empty()) add(order.unknown, "5m");
  return fields;
}

std::string whole_json(const Order& order) {
  return "{\"queue\": " + json_text(order.queue) + ", \"type\": " + json_text(order.type) +
         ", \"payload\": " + json_text(order.payload) + options_json(order, ", ") + "}";
}

std::vector<std::string> command(const Order& order) {
  std::vector<std::string> words{"submit"};
  if (order.unique_key) words.push_back("--unique-key=" + *order.unique_key);
  if (order.partition_key) words.push_back("--partition-key=" + *order.partition_key);
  if (order.delay_seconds != 0) {
    words.push_back("--delay=" + std::to_string(order.delay_seconds) + "s");
  }
  if (!order.unknown.empty()) words.push_back("--" + order.unknown + "=5m");
  words.insert(words.end(), {"--", order.queue, order.type});
  return words;
}

std::string told(const support::Finished& done) {
  if (done.status == support::ExitStatus{0, 0}) return "";
  return "exit " + std::to_string(done.status.code) + ": " + done.err;
}

NewTask task_of(const Order& order) {
  NewTask task{.queue = order.queue, .type = order.type, .payload = order.payload};
  task.options.unique_key = order.unique_key;
  task.options.partition_key = order.partition_key;
  task.options.delay = std::chrono::seconds(order.delay_seconds);
  return task;
}

const char* word_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return "bad_input: ";
    case ErrorKind::kFailed:
      return "failed: ";
    default:
      return "other: ";
  }
}

}  // namespace

std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const ClientError& error) {
    return std::string(word_of(error.kind())) + error.what();
  }
}

std::string json_text(const std::string& bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '\\') {
      text += c;
      continue;
    }
    std::array<char, 8> escape{};
    text.append(escape.data(), static_cast<std::size_t>(std::snprintf(escape.data(), escape.size(),
                                                                      "\\u%04x", unsigned{byte})));
  }
  return text + '"';
}

Application::Application(const std::string& socket, const std::string& database)
    : handle_(mysql_init(nullptr), mysql_close) {
  if (mysql_real_connect(handle_.get(), nullptr, "root", "", database.c_str(), 0, socket.c_str(),
                         0) == nullptr) {
    throw std::runtime_error(mysql_error(handle_.get()));
  }
}

std::string Application::run(const std::string& sql) {
  if (mysql_real_query(handle_.get(), sql.data(), static_cast<unsigned long>(sql.size())) != 0) {
    return "error " + std::to_string(mysql_errno(handle_.get())) + ": " +
           mysql_error(handle_.get());
  }
  mysql_free_result(mysql_store_result(handle_.get()));
  return "";
}

Doors::Doors(const Daemon& daemon, std::string socket)
    : daemon_(daemon),
      socket_(std::move(socket)),
      client_(Client::from_file(daemon.config_file())) {}

std::vector<Door> Doors::all() {
  const auto client = [this](const Order& order) {
    return error_of([&] { client_.submit(task_of(order)); });
  };
  const auto many = [this](const Order& order) {
    return error_of([&] { client_.submit_many({task_of(order)}); });
  };
  using Put = std::function<std::string(const Order&)>;
  const auto mine = [this](auto member) -> Put {
    return [this, member](const Order& order) { return (this->*member)(order); };
  };
  return {
      {"argument", Takes::kWords, "exit 65: ", "exit 64: ", true, mine(&Doors::by_argument)},
      {"stdin", Takes::kBytes, "exit 65: ", "exit 64: ", true, mine(&Doors::by_input)},
      {"ndjson", Takes::kText, "exit 65: ", "exit 65: ", true, mine(&Doors::by_file)},
      {"client", Takes::kBytes, "bad_input: ", "", true, client},
      {"client_many", Takes::kBytes, "bad_input: ", "", true, many},
      {"client_in", Takes::kBytes, "bad_input: ", "", true, mine(&Doors::by_transaction)},
      {"procedure", Takes::kBytes, "error 1644: ", "error 1644: ", true,
       mine(&Doors::by_procedure)},
      {"procedure_many", Takes::kText, "error 1644: ", "error 1644: ", true, mine(&Doors::by_list)},
      {"insert", Takes::kBytes, "error 1", "", false, mine(&Doors::by_insert)},
      {"handler", Takes::kBytes, "code 2: ", "", true, mine(&Doors::by_handler)},
  };
}

std::string Doors::by_argument(const Order& order) const {
  auto words = command(order);
  words.push_back(order.payload);
  return told(daemon_.allot(std::move(words)));
}

std::string Doors::by_input(const Order& order) const {
  auto words = command(order);
  words.emplace_back("-");
  return told(daemon_.allot(std::move(words), order.payload));
}

std::string Doors::by_file(const Order& order) const {
  return told(daemon_.allot(
      {"submit", "--ndjson", folder_.write("tasks.ndjson", whole_json(order) + "\n")}));
}

// The session reads a quote in another way.
std::string Doors::by_transaction(const Order& order) {
  Application app = connect();
  for (const char* sql :
       {"SET NAMES gbk", "SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", "BEGIN"}) {
    if (const std::string error = app.run(sql); !error.empty()) return error;
  }
  const std::string error = error_of([&] { client_.submit_in(app.handle(), task_of(order)); });
  return error + app.run("COMMIT");
}

std::string Doors::by_procedure(const Order& order) const {
  const std::string options = options_json(order, "{");
  return connect().run("CALL allot_submit(" + quoted(order.queue) + ", " + quoted(order.type) +
                       ", _binary" + quoted(order.payload) + ", " +
                       (options.empty() ? "NULL" : quoted(options + "}")) + ", @id, @existed)");
}

std::string Doors::by_list(const Order& order) const {
  Application app = connect();
  if (const std::string error = app.run("SET NAMES utf8mb4"); !error.empty()) return error;
  return app.run("CALL allot_submit_many(" + quoted("[" + whole_json(order) + "]") + ", @made)");
}

// As docs/sql-api.md has it.
std::string Doors::by_insert(const Order& order) const {
  Application app = connect();
  const std::string error = app.run(
      "SELECT queue_id, CAST(FLOOR(RAND() * partitions) AS UNSIGNED),"
      " CAST(FLOOR(RAND() * 4096) AS UNSIGNED) INTO @queue_id, @partition_no, @salt"
      " FROM queue WHERE name = " +
      quoted(order.queue));
  if (!error.empty()) return error;
  return app.run(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) VALUES"
      " (@queue_id, @partition_no, 1,"
      " (TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) << 12) + @salt + 0, " +
      quoted(order.type) + ", _binary" + quoted(order.payload) + ")");
}

std::string Doors::by_handler(const Order& order) {
  std::string frame;
  for (const std::string& field :
       {order.queue, order.type, order.unique_key.value_or(""), order.partition_key.value_or(""),
        std::to_string(order.delay_seconds)}) {
    frame += field + std::string(1, '\0');
  }
  const std::string file =
      folder_.write("frame" + std::to_string(++frames_), frame + order.payload);
  client_.submit({.queue = "default", .type = "door.pass", .payload = file});
  if (!support::eventually([&] { return ::access((file + ".told").c_str(), F_OK) == 0; },
                           std::chrono::seconds(60))) {
    return "no answer: " + daemon_.log();
  }
  return support::read_file(file + ".told");
}

}  // namespace allot::e2e

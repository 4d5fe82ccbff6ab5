// SPDX-License-Identifier: Apache-2.0
// Every way to submit a task, as one function each.
#pragma once

#include <mysql.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/client.h"
#include "e2e/daemon.h"

namespace allot::e2e {

// The order that all doors get.
struct Order {
  std::string queue = "default";
  std::string type = "door.keep.t";
  std::string payload{};
  std::optional<std::string> unique_key{};
  std::optional<std::string> partition_key{};
  int delay_seconds = 0;
  std::string unknown{};  // the name of an option that there is not
};

// The payloads that a door takes, beside which limit of size: each kind includes those above.
enum class Takes {
  kWords,  // no NUL, 100 KB: what a command line holds
  kText,   // UTF-8
  kBytes,
};

struct Door {
  std::string name;
  Takes takes;
  std::string refuses;          // the beginning of each refusal
  std::string refuses_unknown;  // and of an unknown option; empty: nothing can be asked by name
  bool options;                 // delay and keys
  std::function<std::string(const Order&)> put;  // empty: submitted; else the refusal
};

// A connection as an application opens one: without any setting of Allot's.
class Application {
 public:
  Application(const std::string& socket, const std::string& database);
  // Empty, or "error NUMBER: words".
  std::string run(const std::string& sql);
  [[nodiscard]] MYSQL* handle() const { return handle_.get(); }

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
};

class Doors {
 public:
  Doors(const Daemon& daemon, std::string socket);
  [[nodiscard]] std::vector<Door> all();
  [[nodiscard]] Application connect() const { return {socket_, daemon_.database()}; }
  Client& client() { return client_; }

 private:
  [[nodiscard]] std::string by_argument(const Order& order) const;
  [[nodiscard]] std::string by_input(const Order& order) const;
  [[nodiscard]] std::string by_file(const Order& order) const;
  [[nodiscard]] std::string by_transaction(const Order& order);
  [[nodiscard]] std::string by_procedure(const Order& order) const;
  [[nodiscard]] std::string by_list(const Order& order) const;
  [[nodiscard]] std::string by_insert(const Order& order) const;
  [[nodiscard]] std::string by_handler(const Order& order);

  const Daemon& daemon_;
  std::string socket_;
  support::TempDir folder_;
  Client client_;
  int frames_ = 0;
};

// What a call of the client threw: "bad_input: ...", "failed: ..."; empty: nothing.
std::string error_of(const std::function<void()>& call);

// With each byte that JSON or a line does not like as \u00XX, and all others as they are.
std::string json_text(const std::string& bytes);

}  // namespace allot::e2e

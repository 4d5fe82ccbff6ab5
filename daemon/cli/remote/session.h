// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "cli/remote/address.h"

// A gateway that a command talks to in place of a database.
namespace allot::cli::remote {

// The words about it, which every command has.
struct Options {
  std::string url;  // empty: the command goes to the database
  std::string token_file;
  std::string ca_file;  // empty: the system's

  [[nodiscard]] bool chosen() const { return !url.empty(); }
};

// Takes what the command line leaves out from the environment. `local`: the command line names a
// configuration, so that $ALLOT_URL does not count. Throws Error(kExitUsage) for words that go with
// --url where there is none.
void complete(Options& options, bool local);

struct Request {
  std::string method;
  std::string path;  // behind "/api/v1"
  std::string body{};
  std::string type{"application/json"};  // of the body
  bool only_counts = false;              // a POST that changes nothing

  [[nodiscard]] bool writes() const { return method != "GET" && !only_counts; }
  [[nodiscard]] bool has_body() const { return method == "POST" || method == "PUT"; }
};

// The gateway says no, in its words. `field`: what it is about; empty: nothing that has a name.
class Refused : public Error {
 public:
  Refused(const std::string& detail, ExitCode code, unsigned status, std::string field)
      : Error(detail, code), status_(status), field_(std::move(field)) {}
  [[nodiscard]] unsigned status() const { return status_; }
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  unsigned status_;
  std::string field_;
};
// What a problem document says.
[[nodiscard]] Refused refused_as(unsigned status, const nlohmann::json& problem);

struct Answer {
  unsigned status = 0;
  std::string type;
  std::string body;
  bool as_written = false;  // a payload that the gateway could not decompress
};

// Each request has a connection of its own: a server may end one that waits at any time, and then
// nobody knows whether a request that writes arrived. One thread uses a session.
class Session {
 public:
  // Reads the token. Throws Error. `reason` goes with what post(), put() and remove() change.
  explicit Session(const Options& options, std::string reason = {});

  // Throws Error where the gateway does not answer with success, with its words and with the exit
  // code that the command has over SQL: kExitUnavailable, nothing was changed; kExitOutcomeUnknown,
  // the reply to a request that writes was lost.
  [[nodiscard]] Answer ask(const Request& request) const;

  // A request that writes was answered with success: what it did is done, also if nobody can read
  // the answer.
  [[nodiscard]] bool wrote() const { return wrote_; }

  // The document that the answer is. All throw as ask(), and a refusal as Refused.
  [[nodiscard]] nlohmann::json read(const std::string& path) const;
  [[nodiscard]] nlohmann::json post(const std::string& path, const nlohmann::json& options) const;
  [[nodiscard]] nlohmann::json put(const std::string& path, const nlohmann::json& options) const;
  [[nodiscard]] nlohmann::json remove(const std::string& path) const;
  [[nodiscard]] nlohmann::json send(const Request& request) const;
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  [[nodiscard]] Answer exchange(const Request& request) const;

  Address address_;
  std::string ca_file_;
  std::string token_;
  std::string reason_;
  mutable bool wrote_ = false;
};

// The text of a body. Throws Error(kExitBadInput) for what JSON cannot carry.
[[nodiscard]] std::string body_of(const nlohmann::json& options);

// Calls `act` with a session. Throws Error where the gateway's documents are none of Allot's:
// kExitOutcomeUnknown, if one of them answers a request that writes, else kExitConfig.
int over_http(const Options& options, const std::string& reason,
              const std::function<int(const Session&)>& act);

// Throws Error(kExitUsage): the command has no route, or `what` of it has none.
[[noreturn]] void no_route(const std::string& what = "this command");

}  // namespace allot::cli::remote

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/remote/address.h"
#include "cli/remote/operations.h"

// Connection of a command to a gateway, instead of a database.
namespace allot::cli::remote {

// Options for the gateway, shared by all commands.
struct Options {
  std::string url;  // empty: the command goes to the database
  std::string token_file;
  std::string ca_file;  // empty: the system's

  [[nodiscard]] bool chosen() const { return !url.empty(); }
};

// Fills in missing options from the environment. `local`: the command line names a configuration,
// so $ALLOT_URL is ignored. Throws Error(kExitUsage) for options that require --url if there is
// none.
void complete(Options& options, bool local);

// HTTP client. Each request has its own connection: a server may close an idle one at any time, and
// then the outcome of a writing request is unknown. Used by one thread.
class Session final : public Operations {
 public:
  // Reads the token. Throws Error. `reason` is sent with changes by post(), put() and remove().
  explicit Session(const Options& options, std::string reason = {});

  // Throws Error unless the gateway reports success, with the gateway's words and the exit code
  // that the command uses for SQL: kExitUnavailable, nothing was changed; kExitOutcomeUnknown, the
  // reply to a writing request was lost.
  [[nodiscard]] operations::Document ask(const Request& request) const override;

  // A writing request succeeded: its effect is permanent, even if the response cannot be parsed.
  [[nodiscard]] bool wrote() const { return wrote_; }

  [[nodiscard]] nlohmann::json send(const Request& request) const override;

 private:
  [[nodiscard]] operations::Document exchange(const Request& request) const;

  Address address_;
  std::string ca_file_;
  std::string token_;
  mutable bool wrote_ = false;
};

// Calls `act` with a Session. Throws Error if a response is not a document of Allot:
// kExitOutcomeUnknown for the response to a writing request, else kExitConfig.
int over_http(const Options& options, const std::string& reason,
              const std::function<int(const Operations&)>& act);

// Throws Error(kExitUsage): the command, or `what` of it, has no route.
[[noreturn]] void no_route(const std::string& what = "this command");

}  // namespace allot::cli::remote

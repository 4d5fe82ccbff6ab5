// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/remote/operations.h"
#include "cli/sources/context.h"
#include "cli/sources/known_types.h"
#include "config/settings.h"
#include "db/connection.h"
#include "operations/document.h"
#include "operations/service.h"
#include "queue/submit/submitter.h"

namespace allot::cli {

// Operations in this process. Settings are read, and the database is connected, at the first use,
// so that a wrong command line is reported without either.
class Local final : public Operations {
 public:
  // `context` outlives this object.
  explicit Local(const Context& context) : Operations(context.reason), context_(context) {}

  [[nodiscard]] operations::Document ask(const Request& request) const override;
  [[nodiscard]] nlohmann::json send(const Request& request) const override;
  [[nodiscard]] const Local* local() const override { return this; }

  [[nodiscard]] const config::Settings& settings() const;
  [[nodiscard]] db::Connection& db() const;
  // Warns on standard error about unusual types and queues of the submitted tasks.
  void warn_of_tasks() const;

 private:
  [[nodiscard]] const operations::Service& service() const;
  [[nodiscard]] operations::Document submit(const Request& request, std::string_view query) const;
  [[nodiscard]] operations::Document submit_lines(const std::string& body,
                                                  std::string_view query) const;
  void prepare_to_submit() const;
  void note(const std::vector<queue::Submission>& tasks) const;

  const Context& context_;
  mutable std::optional<config::Settings> settings_;
  mutable std::optional<db::Connection> db_;
  mutable std::optional<operations::Service> service_;
  mutable std::optional<KnownTypes> known_types_;
  mutable std::optional<queue::Submitter> submitter_;
};

}  // namespace allot::cli

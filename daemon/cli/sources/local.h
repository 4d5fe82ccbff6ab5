// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/remote/operations.h"
#include "cli/sources/context.h"
#include "config/settings.h"
#include "db/connection.h"
#include "operations/service.h"

namespace allot::cli {

// Operations in this process. Settings are read, and the database is connected, at the first use,
// so that a wrong command line is reported without either.
class Local final : public Operations {
 public:
  // `context` outlives this object.
  explicit Local(const Context& context) : Operations(context.reason), context_(context) {}

  [[nodiscard]] Answer ask(const Request& request) const override;
  [[nodiscard]] nlohmann::json send(const Request& request) const override;
  [[nodiscard]] const Local* local() const override { return this; }

  [[nodiscard]] const config::Settings& settings() const;
  [[nodiscard]] db::Connection& db() const;

 private:
  [[nodiscard]] const operations::Service& service() const;

  const Context& context_;
  mutable std::optional<config::Settings> settings_;
  mutable std::optional<db::Connection> db_;
  mutable std::optional<operations::Service> service_;
};

}  // namespace allot::cli

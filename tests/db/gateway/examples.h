// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "db/gateway/fixture.h"

namespace allot::gateway::api {

// "GET /api/v1/tasks/{id}".
std::string text_of(const Route& route);

// Sends the requests from the examples of the route table, and checks the answers against the
// schemas of openapi.json.
class ExamplesTest : public GatewayTest {
 protected:
  using Names = std::map<std::string, std::string>;

  ExamplesTest();

  // Names for the route's path, in a state in which its verb succeeds.
  Names names_for(const Route& route);
  void put_nightly();  // the schedule of that name
  // Creates a bulk action; returns its number.
  std::string begin_bulk(const std::string& queue);

  static std::string path_of(const Route& route, const Names& names);
  // Request made from the table's examples.
  static Asked example_of(const Route& route, const Names& names);
  Asked example_of(const Route& route) { return example_of(route, names_for(route)); }

  [[nodiscard]] std::string fault(const std::string& schema, const json& value) const;
  void expect_problem(const Answered& answered, unsigned status, const std::string& what);

  json document_;
};

}  // namespace allot::gateway::api

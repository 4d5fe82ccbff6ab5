// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "e2e/daemon.h"
#include "support/process.h"
#include "support/reserved_port.h"

// `allot --url` and its counterparts.
namespace allot::e2e {

using Words = std::vector<std::string>;

[[nodiscard]] std::string line_of(const std::string& text);
[[nodiscard]] std::string url_to(int port, const std::string& scheme = "http");

// Runs `allot` on a host without a configuration and a database.
support::Finished far(Words words, const Words& environment = {}, const std::string& input = {});

// Result of the command for one answer of an arbitrary server.
support::Finished answered(const std::string& bytes, const Words& words,
                           const std::string& input = {});
[[nodiscard]] std::string answer(const std::string& type, const std::string& body,
                                 const std::string& status = "200 OK", std::size_t more = 0);

// A gateway alone, with the database of a stopped daemon.
class Remote : public testing::Test {
 protected:
  // With a port that requires a token; token_ has all permissions.
  void start_with_port(const std::string& keys = {});

  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<support::Process> gateway_;
  std::string token_;
  support::ReservedPort port_;
};

}  // namespace allot::e2e

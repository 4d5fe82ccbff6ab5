// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "e2e/daemon.h"
#include "support/process.h"
#include "support/reserved_port.h"

// `allot --url` and what it talks to.
namespace allot::e2e {

using Words = std::vector<std::string>;

[[nodiscard]] std::string line_of(const std::string& text);
[[nodiscard]] std::string url_to(int port, const std::string& scheme = "http");

// `allot` of a host that has no configuration and no database.
support::Finished far(Words words, const Words& environment = {}, const std::string& input = {});

// What the command does with one answer that some server gives.
support::Finished answered(const std::string& bytes, const Words& words,
                           const std::string& input = {});
[[nodiscard]] std::string answer(const std::string& type, const std::string& body,
                                 const std::string& status = "200 OK", std::size_t more = 0);

// A gateway alone, over the database of a daemon that does not run.
class Remote : public testing::Test {
 protected:
  // With a port that wants a token; token_ may do everything.
  void start_with_port(const std::string& keys = {});

  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<support::Process> gateway_;
  std::string token_;
  support::ReservedPort port_;
};

}  // namespace allot::e2e

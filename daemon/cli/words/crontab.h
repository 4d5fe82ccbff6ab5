// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Parser for crontab files (man 5 crontab). It does not guess: lines whose meaning differs from
// cron are in `left`.
namespace allot::cli {

struct CrontabLine {
  std::uint32_t number = 0;
  std::string expression;
  std::string zone;  // from CRON_TZ or TZ above the line; empty: none
  std::string shell = "/bin/sh";
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string command;
  std::optional<std::string> input{};  // text after the first %
};

struct CrontabRemark {
  std::uint32_t number = 0;
  std::string text;
};

struct Crontab {
  std::vector<CrontabLine> lines{};
  std::vector<CrontabRemark> left{};     // lines that cannot be imported, with reasons
  std::vector<CrontabRemark> remarks{};  // differences of imported lines
};

// `user_column`: the file has a user column, as /etc/crontab has.
[[nodiscard]] Crontab parse_crontab(const std::string& text, bool user_column);

// Shell script, for standard input, with the same effect as the cron line.
[[nodiscard]] std::string script_of(const CrontabLine& line);

// Name for a line: its command and a hash of the line with its zone, so that the same line always
// gets the same name.
[[nodiscard]] std::string name_of(const CrontabLine& line, const std::string& zone);

}  // namespace allot::cli

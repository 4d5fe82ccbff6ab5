// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// A crontab, as man 5 crontab says. Nothing is guessed: what does not mean here what it means to
// cron stands in `left`.
namespace allot::cli {

struct CrontabLine {
  std::uint32_t number = 0;
  std::string expression;
  std::string zone;  // of CRON_TZ or TZ above it; empty: none
  std::string shell = "/bin/sh";
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string command;
  std::optional<std::string> input{};  // what stands behind the first %
};

struct CrontabRemark {
  std::uint32_t number = 0;
  std::string text;
};

struct Crontab {
  std::vector<CrontabLine> lines{};
  std::vector<CrontabRemark> left{};     // lines that cannot be taken over, and why
  std::vector<CrontabRemark> remarks{};  // what differs of lines that are
};

// `user_column`: the file is as /etc/crontab.
[[nodiscard]] Crontab parse_crontab(const std::string& text, bool user_column);

// What a shell reads from its standard input to do what cron would do.
[[nodiscard]] std::string script_of(const CrontabLine& line);

// A name for it: of the command, and a hash of all that the line says with the zone, so that the
// same line has the same name again.
[[nodiscard]] std::string name_of(const CrontabLine& line, const std::string& zone);

}  // namespace allot::cli

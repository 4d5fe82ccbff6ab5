// SPDX-License-Identifier: Apache-2.0
#include "cli/words/crontab.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "cli/words/text.h"
#include "schedule/expression.h"

namespace allot::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kMostStem = 40;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Removes the next word from the front.
std::string word_of(std::string_view& rest) {
  rest = trimmed(rest);
  const std::size_t end = std::min(rest.size(), rest.find_first_of(kBlanks));
  std::string word(rest.substr(0, end));
  rest.remove_prefix(end);
  rest = trimmed(rest);
  return word;
}

// "\%" is a literal %; the first other % ends the command.
std::pair<std::string, std::optional<std::string>> split_command(std::string_view text) {
  std::string command;
  std::string input;
  bool behind = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& out = behind ? input : command;
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '%') {
      out += '%';
      ++i;
    } else if (text[i] != '%') {
      out += text[i];
    } else if (behind) {
      out += '\n';
    } else {
      behind = true;
    }
  }
  if (!behind) return {command, std::nullopt};
  if (input.empty() || input.back() != '\n') input += '\n';
  return {command, input};
}

// cron checks the first letter of a field to decide whether it restricts the days; Allot checks
// whether the field excludes a day. The two differ if both fields have a word other than *.
bool days_differ(const std::string& day, const std::string& weekday,
                 const schedule::Expression& expression) {
  if (day == "*" || weekday == "*") return false;
  const schedule::Fields& fields = expression.fields();
  return fields.asks_day != (day.front() != '*') || fields.asks_weekday != (weekday.front() != '*');
}

class CrontabReader {
 public:
  explicit CrontabReader(bool user_column) : user_column_(user_column) {}

  Crontab read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      const std::string_view words = trimmed(line);
      if (words.empty() || words.front() == '#') continue;
      if (!read_setting(std::string(words))) read_entry(words);
    }
    return std::move(crontab_);
  }

 private:
  void leave(const std::string& why) { crontab_.left.push_back({number_, why}); }
  void remark(const std::string& text) { crontab_.remarks.push_back({number_, text}); }

  // NAME = value, with or without quotes around either. False: not a setting.
  bool read_setting(const std::string& line) {
    static const std::regex kForm(R"re((?:"([^"]*)"|'([^']*)'|([A-Za-z_]\w*))\s*=\s*(.*))re");
    std::smatch at;
    if (!std::regex_match(line, at, kForm)) return false;
    const std::string name = at[1].str() + at[2].str() + at[3].str();
    std::string value = at[4].str();
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    set(name, value);
    return true;
  }

  void set(const std::string& name, const std::string& value) {
    static const std::regex kName("[A-Za-z_][A-Za-z0-9_]*");
    constexpr std::array<std::string_view, 7> kMail = {
        "MAILTO",       "MAILFROM",          "CONTENT_TYPE",  "CONTENT_TRANSFER_ENCODING",
        "RANDOM_DELAY", "START_HOURS_RANGE", "NO_MAIL_OUTPUT"};
    if (name == "CRON_TZ" || name == "TZ") {
      (name == "TZ" ? tz_ : cron_tz_) = value;
      if (name == "CRON_TZ") return;
      remark("TZ is not used by Debian's cron, which uses the zone of its host");
    } else if (name == "MAILTO" && value.empty()) {
      return;  // an empty MAILTO disables mail in cron, too
    } else if (std::find(kMail.begin(), kMail.end(), name) != kMail.end()) {
      return leave(name +
                   ": Allot neither sends mail nor delays lines randomly; the log and allot dead "
                   "show failures, and --jitter spreads ticks");
    } else if (name == "LOGNAME" || name == "USER") {
      return leave(name + ": tasks run as the account of the daemon");
    } else if (!std::regex_match(name, kName)) {
      return leave("'" + printable(name, 60) + "' is not the name of a variable");
    } else if (name == "SHELL") {
      shell_ = value;
    }
    const auto same = [&](const auto& one) { return one.first == name; };
    std::erase_if(environment_, same);
    environment_.emplace_back(name, value);
  }

  void read_entry(std::string_view rest) {
    CrontabLine line;
    std::string day = "*";
    std::string weekday = "*";
    if (rest.front() == '@') {
      line.expression = word_of(rest);
      if (line.expression == "@reboot") {
        return leave("@reboot: not supported; use a systemd unit");
      }
    } else {
      for (int field = 0; field < 5; ++field) {
        const std::string word = word_of(rest);
        if (word.empty()) return leave("it has fewer than five fields and a command");
        if (field == 2) day = word;
        if (field == 4) weekday = word;
        line.expression += (field == 0 ? "" : " ") + word;
      }
    }
    try {
      const auto expression = schedule::Expression::parse(line.expression);
      if (days_differ(day, weekday, expression)) {
        return leave("day of month '" + day + "' with weekday '" + weekday +
                     "' means other days in cron; write it as two lines");
      }
    } catch (const Error& error) {
      return leave(printable(error.what(), 300));
    }
    read_command(rest, std::move(line));
  }

  void read_command(std::string_view rest, CrontabLine line) {
    const std::string user = user_column_ ? word_of(rest) : "";
    if (rest.empty()) return leave("it has no command");
    if (rest.find("\\\\") != std::string_view::npos) {
      return leave("two backslashes: some crons reduce them to one; put the command into a script");
    }
    if (!user.empty()) {
      remark("it ran as " + printable(user, 60) + "; tasks run as the account of the daemon");
    }
    line.number = number_;
    line.zone = cron_tz_.empty() ? tz_ : cron_tz_;
    line.shell = shell_;
    line.environment = environment_;
    std::tie(line.command, line.input) = split_command(rest);
    crontab_.lines.push_back(std::move(line));
  }

  bool user_column_;
  std::uint32_t number_ = 0;
  std::string cron_tz_;
  std::string tz_;
  std::string shell_ = "/bin/sh";
  std::vector<std::pair<std::string, std::string>> environment_;
  Crontab crontab_;
};

}  // namespace

Crontab parse_crontab(const std::string& text, bool user_column) {
  return CrontabReader(user_column).read(text);
}

std::string script_of(const CrontabLine& line) {
  std::string script;
  for (const auto& [name, value] : line.environment) {
    script += "export " + name + "=" + shell_word(value) + "\n";
  }
  const std::string run = shell_word(line.shell) + " -c " + shell_word(line.command);
  // The shell reads the script itself from standard input.
  if (!line.input) return script + "exec " + run + " </dev/null\n";
  return script + "printf %s " + shell_word(*line.input) + " | " + run + "\n";
}

std::string name_of(const CrontabLine& line, const std::string& zone) {
  std::string_view rest = line.command;
  std::string word;
  do {
    word = word_of(rest);
  } while (word.find('=') != std::string::npos && !rest.empty());
  std::string stem;
  for (const char c : word.substr(word.find_last_of('/') + 1)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (fits && stem.size() < kMostStem) stem += c;
  }
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : line.expression + '\n' + zone + '\n' + script_of(line)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  std::array<char, 12> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", hash);
  return (stem.empty() ? "crontab" : stem) + "-" + digits.data();
}

}  // namespace allot::cli

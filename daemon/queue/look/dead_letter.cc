// SPDX-License-Identifier: Apache-2.0
#include "queue/look/dead_letter.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kDeadPage = 1000;
constexpr std::size_t kMostPattern = 200;

// Bytes of UTF-8 sequences beyond ASCII are parts of words.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// Where the text ends that the quote at `open` begins; npos when it begins no text ("can't").
std::size_t closing_quote(std::string_view line, std::size_t open) {
  const char quote = line[open];
  if (quote != '\'' && quote != '"' && quote != '`') return std::string_view::npos;
  if (open > 0 && in_word(line[open - 1])) return std::string_view::npos;
  return line.find(quote, open + 1);
}

std::string_view word_at(std::string_view line, std::size_t begin) {
  std::size_t end = begin;
  // 10.0.0.1:3306, host-3, 2026-11-21T05:00:00, 550e8400-e29b: characters that join two words also
  // join numbers.
  constexpr std::string_view kJoins = "-_.:/";
  while (end < line.size() &&
         (in_word(line[end]) || (end > begin && kJoins.find(line[end]) != std::string_view::npos &&
                                 end + 1 < line.size() && in_word(line[end + 1])))) {
    ++end;
  }
  return line.substr(begin, end - begin);
}

void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80) --most;
  text.resize(most);
}

// As page_dead.sql: so many characters.
std::string beginning(std::string_view error) {
  constexpr std::size_t kCharacters = 1000;
  std::string text = error_text(error.substr(0, 4 * kCharacters + 4));
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0U) != 0x80;
    if (begins && characters++ == kCharacters) return text.substr(0, at);
  }
  return text;
}

DeadLetter read_letter(const db::Row& row, std::uint32_t queue_id) {
  DeadLetter letter;
  letter.id.partition = {queue_id, static_cast<std::uint32_t>(row.u64(0))};
  letter.id.prio = static_cast<std::uint32_t>(row.u64(1));
  letter.id.first_key = row.u64(2);
  letter.type = row.text(3);
  letter.cause = row.text(4);
  letter.error = row.text(5);
  letter.died_at = row.text(6);
  letter.died_at_us = row.u64(7);
  letter.ahead = row.u64(8) != 0;
  letter.fault = fault_of(letter.error, row.is_null(9) ? std::string_view() : row.text(9));
  return letter;
}

}  // namespace

std::string error_pattern(std::string_view error) {
  const std::size_t begin = std::min(error.find_first_not_of(" \t\r\n"), error.size());
  const std::string_view line = error.substr(begin, error.find('\n', begin) - begin);
  std::string pattern;
  for (std::size_t i = 0; i < line.size();) {
    if (const std::size_t close = closing_quote(line, i); close != std::string_view::npos) {
      pattern.append(1, line[i]).append("...").append(1, line[i]);
      i = close + 1;
    } else if (in_word(line[i])) {
      const std::string_view word = word_at(line, i);
      const bool number = word.find_first_of("0123456789") != std::string_view::npos;
      pattern += number ? "#" : word;
      i += word.size();
    } else {
      pattern += line[i++];
    }
  }
  cut(pattern, kMostPattern);
  return pattern;
}

std::string fault_of(std::string_view error, std::string_view fault) {
  return fault.empty() ? error_pattern(beginning(error)) : std::string(fault);
}

std::string dead_group(std::string_view queue, const DeadLetter& letter) {
  return error_group(queue, letter.type, letter.cause, letter.fault).group;
}

ErrorGroup error_group(std::string_view queue, std::string_view type, std::string_view cause,
                       std::string_view fault) {
  const std::uint64_t hash = Checksum().mix(queue).mix(type).mix(cause).mix(fault).value();
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (int shift = 60; shift >= 16; shift -= 4) word += kDigits[(hash >> shift) & 0xfU];
  return {std::move(word), std::string(cause) + ": " + std::string(fault)};
}

// FNV-1a; std::hash may differ from build to build.
Checksum& Checksum::mix(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * kPrime;
  value_ = (value_ ^ 0xffU) * kPrime;  // no byte of UTF-8: ends the text
  return *this;
}

std::vector<DeadLetter> page_dead(db::Connection& db, std::uint32_t queue_id, const TaskId& after,
                                  std::uint32_t most) {
  db::Statement statement(sql::k_page_dead);
  set_partition(statement, {queue_id, after.partition.partition_no})
      .set("prio", after.prio)
      .set("first_key", after.first_key)
      .set("most", most);
  auto results = db.run({statement});
  std::vector<DeadLetter> page;
  while (const auto row = results.front().next()) page.push_back(read_letter(*row, queue_id));
  return page;
}

void each_dead(db::Connection& db, const QueueInfo& queue,
               const std::function<bool(const DeadLetter&)>& look) {
  TaskId last;  // keys begin after 0
  for (;;) {
    const auto page = page_dead(db, queue.queue_id, last, kDeadPage);
    for (const DeadLetter& letter : page) {
      if (!look(letter)) return;
    }
    if (page.size() < kDeadPage) return;
    last = page.back().id;
  }
}

DeadGroups dead_groups(db::Connection& db, const QueueInfo& queue, std::uint64_t most) {
  std::map<std::string, DeadGroup> groups;
  DeadGroups found;
  std::uint64_t looked = 0;
  each_dead(db, queue, [&](const DeadLetter& letter) {
    if (++looked > most) return found.counted_all = false;
    DeadGroup& group = groups[dead_group(queue.name, letter)];
    if (letter.died_at > group.newest.died_at) group.newest = letter;
    ++group.tasks;
    return true;
  });
  for (auto& [word, group] : groups) {
    group.group = word;
    found.list.push_back(std::move(group));
  }
  std::stable_sort(found.list.begin(), found.list.end(),
                   [](const DeadGroup& a, const DeadGroup& b) { return a.tasks > b.tasks; });
  return found;
}

}  // namespace allot::queue

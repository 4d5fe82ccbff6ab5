// SPDX-License-Identifier: Apache-2.0
#include "operations/cursor.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "json/base64.h"
#include "json/due.h"
#include "json/queue_json.h"
#include "operations/refusal.h"

namespace allot::operations {
namespace {

constexpr std::size_t kMostCursor = 200;

// "w 3 1 7777" or "d 3 1 7777 2026-11-24T04:00:00.000000Z"
std::string cursor_of(List list, const queue::TaskId& id, std::uint64_t key,
                      const std::string& at) {
  std::string words(1, static_cast<char>(list));
  words += " " + std::to_string(id.partition.partition_no) + " " + std::to_string(id.prio) + " " +
           std::to_string(key);
  if (!at.empty()) words += " " + at;
  return as_json::to_base64url(words);
}

[[noreturn]] void wrong() {
  refuse(400, "'cursor' is not a value of 'next' of this list", "cursor");
}

std::vector<std::string> words_of(std::string_view cursor) {
  if (cursor.size() > kMostCursor) wrong();
  const auto text = as_json::from_base64url(cursor);
  if (!text) wrong();
  std::vector<std::string> words(1);
  for (const char c : *text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

template <typename Number>
Number number_in(const std::string& word) {
  Number number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) wrong();
  return number;
}

// Accepts a moment exactly as the database writes it, because the database also reads other forms.
std::string moment_in(const std::string& word) {
  constexpr std::size_t kSize = std::string_view("2026-11-24T04:00:00.000000Z").size();
  if (word.size() != kSize || word[10] != 'T' || word.back() != 'Z') wrong();
  try {
    (void)as_json::parse_moment("cursor", word);
  } catch (const Error&) {
    wrong();
  }
  return word;
}

struct Place {
  queue::TaskId id;
  std::uint64_t key = 0;
  std::string at;
};

// For a list with numbered rows.
std::string cursor_of(List list, std::uint64_t number) {
  return as_json::to_base64url(std::string(1, static_cast<char>(list)) + " " +
                               std::to_string(number));
}

std::uint64_t number_at(List list, std::string_view cursor) {
  const auto words = words_of(cursor);
  if (words.size() != 2 || words[0] != std::string(1, static_cast<char>(list))) wrong();
  return number_in<std::uint64_t>(words[1]);
}

Place place_in(List list, std::string_view cursor) {
  const auto words = words_of(cursor);
  const bool dated = list == List::kDead || list == List::kHistory;
  if (words.size() != (dated ? 5U : 4U) || words[0] != std::string(1, static_cast<char>(list))) {
    wrong();
  }
  Place place;
  place.id.partition.partition_no = number_in<std::uint32_t>(words[1]);
  place.id.prio = number_in<std::uint32_t>(words[2]);
  place.key = number_in<std::uint64_t>(words[3]);
  if (dated) place.at = moment_in(words[4]);
  return place;
}

}  // namespace

std::string cursor_of(List list, const queue::TaskView& last) {
  return cursor_of(list, last.id, list == List::kWaiting ? last.run_key : last.id.first_key,
                   list == List::kDead ? last.at : "");
}

std::string cursor_of(const queue::Done& last) {
  return cursor_of(List::kHistory, last.id, last.id.first_key, last.ended_at);
}

std::string cursor_of_bulk(std::uint64_t last_action) {
  return cursor_of(List::kBulk, last_action);
}

std::string cursor_of_audit(std::uint64_t last_entry) {
  return cursor_of(List::kAudit, last_entry);
}

queue::TaskView task_at(List list, std::string_view cursor) {
  Place place = place_in(list, cursor);
  queue::TaskView task;
  task.id = place.id;
  task.id.first_key = place.key;
  task.run_key = place.key;
  task.at = std::move(place.at);
  return task;
}

queue::Done done_at(std::string_view cursor) {
  Place place = place_in(List::kHistory, cursor);
  queue::Done done;
  done.id = place.id;
  done.id.first_key = place.key;
  done.ended_at = std::move(place.at);
  return done;
}

std::uint64_t bulk_action_at(std::string_view cursor) {
  return number_at(List::kBulk, cursor);
}

std::uint64_t audit_entry_at(std::string_view cursor) {
  return number_at(List::kAudit, cursor);
}

std::string row_time(queue::Moment moment) {
  std::string text = as_json::moment_text(moment);
  const bool whole = text.find('.') == std::string::npos;
  if (whole) text.insert(text.size() - 1, ".000000");
  return text;
}

}  // namespace allot::operations

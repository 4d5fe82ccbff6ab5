// SPDX-License-Identifier: Apache-2.0
#include "operations/cursor.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/number.h"
#include "json/base64.h"
#include "json/fields.h"
#include "json/queue_json.h"
#include "operations/document.h"

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
  const auto number = config::whole_number<Number>(word);
  if (!number) wrong();
  return *number;
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

// The words of a cursor of that list.
std::vector<std::string> words_of(List list, std::string_view cursor, std::size_t count) {
  auto words = words_of(cursor);
  if (words.size() != count || words[0] != std::string(1, static_cast<char>(list))) wrong();
  return words;
}

}  // namespace

std::string cursor_of(List list, const queue::TaskView& last) {
  return cursor_of(list, last.id, list == List::kWaiting ? last.run_key : last.id.first_key,
                   list == List::kDead ? last.at : "");
}

std::string cursor_of(const queue::Done& last) {
  return cursor_of(List::kHistory, last.id, last.id.first_key, last.ended_at);
}

std::string cursor_of(List list, std::uint64_t number) {
  return as_json::to_base64url(std::string(1, static_cast<char>(list)) + " " +
                               std::to_string(number));
}

queue::TaskView task_at(List list, std::string_view cursor) {
  const bool dated = list == List::kDead || list == List::kHistory;
  const auto words = words_of(list, cursor, dated ? 5 : 4);
  queue::TaskView task;
  task.id.partition.partition_no = number_in<std::uint32_t>(words[1]);
  task.id.prio = number_in<std::uint32_t>(words[2]);
  task.id.first_key = task.run_key = number_in<std::uint64_t>(words[3]);
  if (dated) task.at = moment_in(words[4]);
  return task;
}

queue::Done done_at(std::string_view cursor) {
  queue::TaskView task = task_at(List::kHistory, cursor);
  queue::Done done;
  done.id = task.id;
  done.ended_at = std::move(task.at);
  return done;
}

std::uint64_t number_at(List list, std::string_view cursor) {
  return number_in<std::uint64_t>(words_of(list, cursor, 2)[1]);
}

std::string row_time(queue::Moment moment) {
  std::string text = as_json::moment_text(moment);
  const bool whole = text.find('.') == std::string::npos;
  if (whole) text.insert(text.size() - 1, ".000000");
  return text;
}

}  // namespace allot::operations

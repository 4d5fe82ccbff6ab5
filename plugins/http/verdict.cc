// SPDX-License-Identifier: Apache-2.0
#include "verdict.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "json/strict.h"

namespace http_plugin {
namespace {

using nlohmann::json;

// Reads the two texts of an object and skips the rest at any depth, without building a tree from
// foreign input.
class BodyWords : public json::json_sax_t {
 public:
  std::string status;
  std::string message;
  std::string trouble;

  bool null() override { return true; }  // same as missing
  bool boolean(bool /*value*/) override { return scalar("a truth value"); }
  bool number_integer(number_integer_t /*value*/) override { return scalar("a number"); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return scalar("a number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return scalar("a number");
  }
  bool binary(binary_t& /*value*/) override { return scalar("bytes"); }
  bool string(string_t& value) override {
    if (std::string* const to = wanted()) {
      *to = std::move(value);
    } else if (depth_ == 0) {
      return refuse("it is a text");
    }
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    // Keys of the outer object are compared without regard to case.
    if (!keys_.add(depth_ == 1 ? allot::lower(name) : name)) return refuse(name + " occurs twice");
    return true;
  }
  bool start_object(std::size_t /*size*/) override {
    if (wanted() != nullptr) return refuse(key_ + " is an object");
    keys_.open();
    return enter();
  }
  bool start_array(std::size_t /*size*/) override {
    if (depth_ == 0) return refuse("it is a list");
    return (wanted() == nullptr || refuse(key_ + " is a list")) && enter();
  }
  bool end_object() override {
    keys_.close();
    return leave();
  }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& /*error*/) override {
    return refuse("it is wrong at byte " + std::to_string(position));
  }

 private:
  // Destination of the next value; null: ignored.
  std::string* wanted() {
    if (depth_ != 1) return nullptr;
    const std::string name = allot::lower(key_);
    if (name == "status") return &status;
    return name == "message" ? &message : nullptr;
  }
  bool scalar(const char* what) {
    if (wanted() != nullptr) return refuse(key_ + " is " + what);
    return depth_ > 0 || refuse(std::string("it is ") + what);
  }
  bool refuse(const std::string& why) {
    trouble = why;
    return false;
  }
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  std::string key_;
  allot::as_json::OpenKeys keys_;
};

Verdict invalid(const std::string& what, std::string_view body) {
  return {Word::kFailure, what + "\nOriginal response body:\n" + std::string(body)};
}

std::optional<std::int64_t> moment_of(const std::string& text) {
  tm broken = {};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &broken);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&broken);
}

std::optional<std::chrono::milliseconds> pause_of(const Answer& answer, std::int64_t now) {
  const std::string& text = answer.retry_after;
  constexpr std::size_t kMaxDigits = 9;
  if (text.empty()) return std::nullopt;
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    return std::chrono::seconds(text.size() > kMaxDigits ? 1'000'000'000 : std::stol(text));
  }
  const auto until = moment_of(text);
  if (!until) return std::nullopt;
  // Uses the target's own clock if the answer has a Date.
  return std::chrono::seconds(
      std::max<std::int64_t>(0, *until - moment_of(answer.date).value_or(now)));
}

// The four digits after "\u" at the start; 0 if missing.
unsigned unit_at(std::string_view text) {
  unsigned unit = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return 0;
  const char* const end = text.data() + 6;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : 0;
}

// Length of an escape, including the second half of a surrogate pair; `half`: an unpaired half.
std::size_t escape_length(std::string_view text, bool& half) {
  const auto is_half = [](unsigned unit) { return unit >= 0xD800 && unit <= 0xDFFF; };
  const unsigned unit = unit_at(text);
  half = is_half(unit);
  if (!half) return std::min<std::size_t>(text.size(), 2);
  const unsigned next = unit_at(text.substr(6));
  if (unit > 0xDBFF || next < 0xDC00 || next > 0xDFFF) return 6;
  half = false;
  return 12;
}

// Repairs a text as Go does: invalid UTF-8 and unpaired surrogates become U+FFFD.
std::string repaired(std::string_view body) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string text;
  while (!body.empty()) {
    bool wrong = false;
    std::size_t length = 0;
    if (body.front() == '\\') {
      length = escape_length(body, wrong);
    } else {
      length = allot::utf8_length(body);
      wrong = length == 0;
    }
    length = std::max<std::size_t>(length, 1);
    text += wrong ? kReplacement : body.substr(0, length);
    body.remove_prefix(length);
  }
  return text;
}

}  // namespace

Verdict verdict_of_body(std::string_view body) {
  // JSON cannot contain a NUL, and the parser would treat it as the end.
  const std::size_t nul = body.find('\0');
  if (nul != std::string_view::npos) {
    return invalid("Cannot parse body as JSON: it is wrong at byte " + std::to_string(nul + 1),
                   body);
  }
  // The parser would skip the byte order mark.
  if (body.starts_with("\xEF\xBB\xBF")) {
    return invalid("Cannot parse body as JSON: it is wrong at byte 1", body);
  }
  BodyWords words;
  bool good = json::sax_parse(body, &words);
  if (!good) {
    BodyWords again;
    good = json::sax_parse(repaired(body), &again);
    if (good) words = std::move(again);
  }
  if (!good) {
    return invalid("Cannot parse body as JSON: " + words.trouble, body);
  }
  if (words.status == "success") return {Word::kSuccess, words.message};
  if (words.status == "failure") return {Word::kFailure, words.message};
  if (words.status == "permanent-failure") return {Word::kPermanentFailure, words.message};
  return invalid("Invalid result status: " + words.status, body);
}

Verdict verdict_of_status(const Answer& answer, std::int64_t now) {
  const int status = answer.status;
  if (status >= 200 && status < 300) return {Word::kSuccess, answer.body};
  const bool again =
      status >= 500 || status < 400 || status == 408 || status == 425 || status == 429;
  Verdict verdict = {again ? Word::kFailure : Word::kPermanentFailure, answer.body};
  if (status == 429 || status == 503) verdict.delay = pause_of(answer, now);
  return verdict;
}

}  // namespace http_plugin

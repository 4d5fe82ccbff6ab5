// SPDX-License-Identifier: Apache-2.0
#include "cli/words/ndjson.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/words/due.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kShownValue = 60;
const std::vector<std::string> kFields{
    "queue",      "type",       "payload",       "prio",       "delay",      "run_at",
    "unique_key", "unique_for", "partition_key", "expires_in", "expires_at", "compress_above"};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(why, kExitBadInput);
}

// Follows the parser event by event instead of building a tree: a JSON payload keeps its order of
// keys and every digit of its numbers, and no depth of nesting overflows the stack.
class LineReader final : public nlohmann::json_sax<json> {
 public:
  Line take() {
    if (!texts_.contains("type")) refuse("'type' is missing");
    Line line{
        std::move(texts_["queue"]), std::move(texts_["type"]), std::move(texts_["payload"]), {}};
    read_options(line.options);
    return line;
  }

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return scalar(text);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 1 || !is_number(field_)) return scalar(std::to_string(value));
    if (field_ == "prio" && value >= queue::kPrioClasses) refuse_number();
    numbers_[field_] = value;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 1) return scalar(json(std::move(value)).dump());
    if (is_number(field_)) refuse_number();
    texts_[field_] = std::move(value);
    return true;
  }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON

  bool start_object(std::size_t /*size*/) override {
    if (depth_ > 0) return open('{');
    ++depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) override { return open('['); }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }
  bool key(string_t& name) override {
    if (depth_ > 1) {
      append(json(std::move(name)).dump() + ":");
      comma_ = false;
      return true;
    }
    if (std::find(kFields.begin(), kFields.end(), name) == kFields.end()) {
      refuse("unknown field '" + printable(name, kShownValue) + "'" + did_you_mean(name, kFields));
    }
    field_ = std::move(name);
    if (numbers_.contains(field_) || texts_.contains(field_)) {
      refuse("field '" + field_ + "' is given twice");
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: what it is"
    std::string what = error.what();
    what.erase(0, what.find("] ") + 2);
    if (what.rfind("parse error at ", 0) == 0) what.erase(0, what.find(": ") + 2);
    refuse("not JSON, at byte " + std::to_string(position) + ": " + printable(what, 200));
  }

 private:
  void read_options(queue::SubmitOptions& options) {
    const auto with = [&](const char* field, auto&& read) {
      const auto at = texts_.find(field);
      if (at != texts_.end()) read(at->second);
    };
    if (const auto prio = numbers_.find("prio"); prio != numbers_.end()) {
      options.prio = static_cast<std::uint32_t>(prio->second);
    }
    const auto above = numbers_.find("compress_above");
    if (above != numbers_.end()) options.compress_above = above->second;
    with("delay", [&](auto& text) { options.delay = parse_delay("delay", text); });
    with("run_at", [&](auto& text) { options.run_at = parse_moment("run_at", text); });
    with("unique_key", [&](auto& text) { options.unique_key = text; });
    with("unique_for", [&](auto& text) { options.unique_for = parse_delay("unique_for", text); });
    with("partition_key", [&](auto& text) { options.partition_key = text; });
    with("expires_in", [&](auto& text) { options.expires_in = parse_delay("expires_in", text); });
    with("expires_at", [&](auto& text) { options.expires_at = parse_moment("expires_at", text); });
  }

  static bool is_number(const std::string& field) {
    return field == "prio" || field == "compress_above";
  }
  [[noreturn]] void refuse_number() const {
    if (field_ == "prio") refuse("'prio' must be 0 (first) to 3");
    refuse("'" + field_ + "' must be a whole number, 0 or more");
  }

  // A value that is no string is part of the payload, or in the wrong place.
  void require_payload() const {
    if (depth_ == 0) refuse("not a JSON object");
    if (depth_ > 1 || field_ == "payload") return;
    if (is_number(field_)) refuse_number();
    refuse("'" + field_ + "' must be a string");
  }
  void append(const std::string& text) {
    std::string& payload = texts_["payload"];
    if (comma_) payload += ',';
    payload += text;
    comma_ = depth_ > 1;
  }
  bool scalar(const std::string& text) {
    require_payload();
    append(text);
    return true;
  }
  bool open(char bracket) {
    require_payload();
    append(std::string(1, bracket));
    ++depth_;
    comma_ = false;
    return true;
  }
  bool close(char bracket) {
    if (--depth_ > 0) texts_["payload"] += bracket;
    comma_ = depth_ > 1;
    return true;
  }

  std::size_t depth_ = 0;  // 1: the fields of the line; more: inside the payload
  bool comma_ = false;     // the next value of the payload needs a comma
  std::string field_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::uint64_t> numbers_;
};

}  // namespace

const std::vector<std::string>& line_fields() {
  return kFields;
}

std::optional<Line> parse_line(const std::string& text) {
  if (text.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
  // The parser would treat it as the end of the text.
  if (text.find('\0') != std::string::npos) refuse("not JSON: a NUL byte; write it as \\u0000");
  LineReader reader;
  json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace allot::cli

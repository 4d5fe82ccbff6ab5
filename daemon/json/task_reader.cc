// SPDX-License-Identifier: Apache-2.0
#include "json/task_reader.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/number.h"
#include "config/rows.h"
#include "json/base64.h"
#include "json/fields.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

using nlohmann::json;

constexpr std::size_t kShownValue = 60;
constexpr const char* kPayload64 = "payload_base64";
constexpr const char* kAttempts = "max_attempts";
constexpr const char* kLosses = "max_losses";
constexpr int kOutOfRange = 406;  // error number of nlohmann's out_of_range.406

[[noreturn]] void refuse(const std::string& why) {
  throw Error(why, kExitBadInput);
}

// The fields of one task, in order of arrival.
class Fields {
 public:
  explicit Fields(Source source) : source_(source) {}

  void begin(std::string name) {
    const auto& known = task_fields(source_);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      refuse("unknown field '" + printable(name, kShownValue) + "'" +
             config::did_you_mean(name, known));
    }
    name_ = std::move(name);
    if (numbers_.contains(name_) || texts_.contains(name_)) {
      refuse("field '" + name_ + "' is given twice");
    }
  }
  void take_text(std::string value) {
    if (is_number()) refuse_number();
    texts_[name_] = std::move(value);
  }
  // False: not a number field.
  bool take_number(std::uint64_t value) {
    if (!is_number()) return false;
    if (name_ == "prio" && value >= queue::kPrioClasses) refuse_number();
    if (counts_attempts() && (value < 1 || value > queue::kMostAttempts)) refuse_number();
    numbers_[name_] = value;
    return true;
  }
  // Refuses a value that is neither text nor a valid number, unless it is the payload.
  void require_payload() const {
    if (name_ == "payload") return;
    if (is_number()) refuse_number();
    refuse("'" + name_ + "' must be a string");
  }
  [[noreturn]] void refuse_range() const {
    refuse("'" + name_ + "' has a number that is out of range; send such a payload as a string");
  }
  std::string& payload() { return texts_["payload"]; }

  queue::Submission take() {
    if (!texts_.contains("type")) refuse("'type' is missing");
    if (const auto coded = texts_.find(kPayload64); coded != texts_.end()) {
      if (texts_.contains("payload")) refuse("'payload_base64' and 'payload' exclude each other");
      auto bytes = from_base64(coded->second);
      if (!bytes)
        refuse("'payload_base64' is not valid base64 (with padding, without line breaks)");
      texts_["payload"] = std::move(*bytes);
    }
    queue::Submission task{{},
                           std::move(texts_["type"]),
                           std::move(texts_["payload"]),
                           {},
                           std::move(texts_["queue"])};
    read_options(task.options);
    return task;
  }

 private:
  [[nodiscard]] bool is_number() const {
    return name_ == "prio" || name_ == "compress_above" || counts_attempts();
  }
  [[nodiscard]] bool counts_attempts() const { return name_ == kAttempts || name_ == kLosses; }
  [[noreturn]] void refuse_number() const {
    if (name_ == "prio") refuse("'prio' must be 0 (first) to 3");
    if (counts_attempts()) {
      refuse("'" + name_ + "' must be a whole number, 1 to " +
             std::to_string(queue::kMostAttempts));
    }
    refuse("'" + name_ + "' must be a whole number, 0 or more");
  }
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
    if (const auto attempts = numbers_.find(kAttempts); attempts != numbers_.end()) {
      options.max_attempts = static_cast<std::uint32_t>(attempts->second);
    }
    if (const auto losses = numbers_.find(kLosses); losses != numbers_.end()) {
      options.max_losses = static_cast<std::uint32_t>(losses->second);
    }
    with("label", [&](auto& text) { options.label = text; });
    with("time_limit", [&](auto& text) {
      options.time_limit =
          std::chrono::floor<std::chrono::milliseconds>(parse_delay("time_limit", text));
    });
    with("traceparent", [&](auto& text) { options.traceparent = text; });
    with("tracestate", [&](auto& text) { options.tracestate = text; });
    with("delay", [&](auto& text) { options.delay = parse_delay("delay", text); });
    with("run_at", [&](auto& text) { options.run_at = parse_moment("run_at", text); });
    with("unique_key", [&](auto& text) { options.unique_key = text; });
    with("unique_for", [&](auto& text) { options.unique_for = parse_delay("unique_for", text); });
    with("partition_key", [&](auto& text) { options.partition_key = text; });
    with("expires_in", [&](auto& text) { options.expires_in = parse_delay("expires_in", text); });
    with("expires_at", [&](auto& text) { options.expires_at = parse_moment("expires_at", text); });
  }

  Source source_;
  std::string name_{};
  std::map<std::string, std::string> texts_{};
  std::map<std::string, std::uint64_t> numbers_{};
};

// Handles parser events instead of building a tree: a JSON payload keeps its key order and all
// digits of its numbers, and deep nesting cannot overflow the stack.
class Reader final : public nlohmann::json_sax<json> {
 public:
  Reader(Source source, bool takes_several)
      : source_(source), takes_several_(takes_several), fields_(source) {}

  TaskBody take() {
    if (!body_.several && body_.tasks.empty()) refuse("not a JSON object");
    return std::move(body_);
  }

  bool null() override { return scalar("null"); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return scalar(text);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return named([&] {
      if (!in_fields() || !fields_.take_number(value)) payload(std::to_string(value));
    });
  }
  bool string(string_t& value) override {
    return named([&] {
      if (in_fields()) return fields_.take_text(std::move(value));
      payload(json(std::move(value)).dump());
    });
  }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON

  bool start_object(std::size_t /*size*/) override {
    return named([&] {
      if (depth_ > top_) return open('{');
      if (body_.tasks.size() == kMaxTasks) {
        refuse("more than " + std::to_string(kMaxTasks) + " tasks: send them as NDJSON");
      }
      fields_ = Fields(source_);
      ++depth_;
    });
  }
  bool start_array(std::size_t /*size*/) override {
    return named([&] {
      if (depth_ > 0 || !takes_several_) return open('[');
      body_.several = true;
      depth_ = top_ = 1;
    });
  }
  bool end_object() override {
    return named([&] {
      if (depth_ > top_ + 1) return close('}');
      --depth_;
      body_.tasks.push_back(fields_.take());
    });
  }
  bool end_array() override {
    if (depth_ > top_) {
      close(']');
    } else {
      --depth_;
    }
    return true;
  }
  bool key(string_t& name) override {
    return named([&] {
      if (in_fields()) return fields_.begin(std::move(name));
      append(json(std::move(name)).dump() + ":");
      comma_ = false;
    });
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    if (error.id == kOutOfRange && depth_ > top_) {
      return named([&] { fields_.refuse_range(); });
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 5: cause"
    std::string what = error.what();
    what.erase(0, what.find("] ") + 2);
    if (what.rfind("parse error at ", 0) == 0) what.erase(0, what.find(": ") + 2);
    refuse("not JSON, at byte " + std::to_string(position) + ": " + printable(what, 200));
  }

 private:
  // Calls `act`, and adds the task's index to an error if there are several tasks.
  template <typename Act>
  bool named(Act act) {
    try {
      act();
    } catch (const Error& error) {
      if (!body_.several) throw;
      refuse("task " + std::to_string(body_.tasks.size()) + ": " + error.what());
    }
    return true;
  }
  // Whether the next event is a field of a task, outside its payload.
  [[nodiscard]] bool in_fields() const { return depth_ == top_ + 1; }

  void append(const std::string& text) {
    std::string& payload = fields_.payload();
    if (comma_) payload += ',';
    payload += text;
    comma_ = depth_ > top_ + 1;
  }
  void payload(const std::string& text) {
    if (depth_ <= top_) refuse("not a JSON object");
    if (in_fields()) fields_.require_payload();
    append(text);
  }
  bool scalar(const std::string& text) {
    return named([&] { payload(text); });
  }
  void open(char bracket) {
    payload(std::string(1, bracket));
    ++depth_;
    if (source_ == Source::kHttp && depth_ - top_ > kMaxDepth) {
      refuse("'payload' is nested deeper than " + std::to_string(kMaxDepth) +
             " levels; send it as a string");
    }
    comma_ = false;
  }
  void close(char bracket) {
    --depth_;
    fields_.payload() += bracket;
    comma_ = depth_ > top_ + 1;
  }

  Source source_;
  bool takes_several_;
  std::size_t depth_ = 0;
  std::size_t top_ = 0;  // depth of the task objects: 1 inside an array
  bool comma_ = false;   // the next value of the payload needs a comma
  Fields fields_;
  TaskBody body_{};
};

}  // namespace

const std::vector<std::string>& task_fields(Source source) {
  static const std::vector<std::string> kFields{
      "queue",      "type",       "payload",       "prio",       "delay",       "run_at",
      "unique_key", "unique_for", "partition_key", "expires_in", "expires_at",  "compress_above",
      kAttempts,    kLosses,      "time_limit",    "label",      "traceparent", "tracestate"};
  static const std::vector<std::string> kHttpFields = [] {
    auto fields = kFields;
    fields.emplace_back(kPayload64);
    return fields;
  }();
  return source == Source::kFile ? kFields : kHttpFields;
}

std::optional<queue::Submission> read_task(const std::string& text, Source source) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  return std::move(read_body(text, source, false).tasks.front());
}

TaskBody read_body(const std::string& text, Source source, bool takes_several) {
  // The parser would treat it as the end of the text.
  if (text.find('\0') != std::string::npos) refuse("not JSON: a NUL byte; write it as \\u0000");
  Reader reader(source, takes_several);
  json::sax_parse(text, &reader);
  return reader.take();
}

queue::Submission task_of(const std::map<std::string, std::string, std::less<>>& fields,
                          std::string payload) {
  Fields task(Source::kFile);
  for (const auto& [name, value] : fields) {
    task.begin(name);
    const auto number = config::whole_number<std::uint64_t>(value);
    if (!number || !task.take_number(*number)) task.take_text(value);
  }
  task.payload() = std::move(payload);
  return task.take();
}

std::string field_of(const std::string& message) {
  std::string_view rest = message;
  const auto skip = [&](std::string_view words) {
    if (rest.starts_with(words)) rest.remove_prefix(words.size());
  };
  if (rest.starts_with("task ")) rest.remove_prefix(std::min(rest.find(": ") + 2, rest.size()));
  skip("unknown ");
  skip("field ");
  const bool quoted = rest.starts_with('\'');
  skip("'");
  const std::size_t end = quoted ? rest.find('\'') : rest.find_first_of(" :");
  std::string word(rest.substr(0, end));
  const auto& known = task_fields(Source::kHttp);
  const bool unknown = message.find("unknown field '") != std::string::npos;
  return unknown || std::find(known.begin(), known.end(), word) != known.end() ? word : "";
}

}  // namespace allot::as_json

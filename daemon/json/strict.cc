// SPDX-License-Identifier: Apache-2.0
#include "json/strict.h"

#include <nlohmann/json.hpp>

namespace allot::as_json {
namespace {

using nlohmann::json;

constexpr int kOutOfRange = 406;  // error number of nlohmann's out_of_range.406
constexpr std::size_t kShown = 60;

std::string in_quotes(const std::string& name) {
  std::string text = "'";
  text.append(name, 0, kShown);
  if (name.size() > kShown) text += "...";
  return text += "'";
}

// Builds the tree, and checks what the parser accepts.
class Builder final : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::size_t most_depth) : most_depth_(most_depth) {}

  json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON
  bool start_object(std::size_t /*size*/) override {
    keys_.open();
    return open(json::object());
  }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_object() override {
    keys_.close();
    return close();
  }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!keys_.add(name)) throw BadJson(in_quotes(name) + " occurs twice", name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const json::exception& error) override {
    throw bad_json(position, error.what(), error.id == kOutOfRange, keys_.last());
  }

 private:
  json* add(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    json& outer = *open_.back();
    if (outer.is_object()) return &(outer[keys_.last()] = std::move(value));
    outer.push_back(std::move(value));
    return &outer.back();
  }
  bool put(json value) {
    add(std::move(value));
    return true;
  }
  bool open(json value) {
    if (open_.size() == most_depth_) throw BadJson("nested too deeply", "");
    open_.push_back(add(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t most_depth_;
  json root_{};
  std::vector<json*> open_{};
  OpenKeys keys_{};
};

}  // namespace

json read_strict(std::string_view text, std::size_t most_depth) {
  // The parser would treat it as the end of the text.
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw BadJson("not JSON, at byte " + std::to_string(nul + 1) + ": a NUL byte", "");
  }
  Builder builder(most_depth);
  json::sax_parse(text, &builder);
  return builder.take();
}

BadJson bad_json(std::size_t position, std::string_view message, bool number,
                 const std::string& field) {
  const std::string at = ", at byte " + std::to_string(position);
  if (number) {
    if (field.empty()) return {"a number out of range" + at, ""};
    return {in_quotes(field) + " is a number out of range" + at, field};
  }
  if (message.find("; expected end of input") != std::string_view::npos) {
    return {"not a single JSON value" + at, ""};
  }
  return {"not JSON" + at, ""};
}

}  // namespace allot::as_json

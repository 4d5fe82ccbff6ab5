// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/words.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace allot::gateway::ui {
namespace {

std::string one_decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.1f" : "%.0f", value);
  return text.data();
}

}  // namespace

std::string number(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string count_text(const json& count) {
  if (count.is_number_unsigned() || count.is_number_integer()) {
    return number(count.get<std::uint64_t>());
  }
  if (count.is_object() && count.contains("at_least")) {
    return number(number_of(count, "at_least")) + "+";
  }
  return "–";
}

std::string span(std::chrono::seconds seconds) {
  const auto count = std::max<std::int64_t>(seconds.count(), 0);
  if (count < 60) return std::to_string(count) + " s";
  if (count < 7'200) return std::to_string(count / 60) + " min";
  if (count < 172'800) return std::to_string(count / 3'600) + " h";
  return std::to_string(count / 86'400) + " days";
}

std::string runtime(std::uint64_t microseconds) {
  const double seconds = static_cast<double>(microseconds) / 1e6;
  if (microseconds < 100) return "< 0.1 ms";
  if (seconds < 1) return one_decimal(seconds * 1'000) + " ms";
  if (seconds < 120) return one_decimal(seconds) + " s";
  return span(std::chrono::seconds(microseconds / 1'000'000));
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1'024) return std::to_string(bytes) + " bytes";
  const double kib = static_cast<double>(bytes) / 1'024;
  return kib < 1'024 ? one_decimal(kib) + " KiB" : one_decimal(kib / 1'024) + " MiB";
}

std::optional<std::chrono::sys_seconds> moment(std::string_view text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const std::string copy(text);
  const int got = std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d", &year, &month, &day, &hour,
                              &minute, &second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (got < 5 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

const json& part_of(const json& document, const char* name) {
  static const json kNull;
  if (!document.is_object()) return kNull;
  const auto at = document.find(name);
  return at == document.end() ? kNull : *at;
}

const json& list_of(const json& document, const char* name) {
  static const json kNone = json::array();
  const json& part = part_of(document, name);
  return part.is_array() ? part : kNone;
}

std::string text_of(const json& document, const char* name) {
  const json& part = part_of(document, name);
  return part.is_string() ? part.get<std::string>() : std::string();
}

std::uint64_t number_of(const json& document, const char* name) {
  const json& part = part_of(document, name);
  if (part.is_number_unsigned()) return part.get<std::uint64_t>();
  // An estimated inflow can be negative.
  if (!part.is_number_integer()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(part.get<std::int64_t>(), 0));
}

bool flag_of(const json& document, const char* name) {
  const json& part = part_of(document, name);
  return part.is_boolean() && part.get<bool>();
}

const json& items_of(const Document* document) {
  static const json kNull;
  return list_of(document != nullptr && document->ok() ? document->body() : kNull, "items");
}

std::string deployment_text(const json& deployment) {
  const std::string host = text_of(deployment, "host") + ": ";
  const std::string version = text_of(deployment, "version");
  const std::string former = text_of(deployment, "previous_version");
  if (former.empty()) return host + "first seen, with version " + version;
  if (former != version) return host + "version " + version + ", before " + former;
  return host + "configuration " + text_of(deployment, "configuration").substr(0, 8) + ", before " +
         text_of(deployment, "previous_configuration").substr(0, 8);
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:=@").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string task_address(const Visit& visit, std::string_view id) {
  return visit.root + "tasks/" + api::escaped(id);
}

std::string queue_address(const Visit& visit, std::string_view queue) {
  return visit.root + "queues/" + api::escaped(queue);
}

void write_time(Html& html, const Visit& visit, const std::string& text) {
  const auto when = moment(text);
  if (!when) return html.text(text.empty() ? "–" : text);
  const auto ago = visit.now - *when;
  const std::string words =
      ago.count() >= 0 ? span(ago) + " ago" : "in " + span(std::chrono::seconds(-ago.count()));
  html.leaf("time", {{"datetime", text}, {"title", text}}, words);
}

void write_state(Html& html, std::string_view kind, std::string_view word) {
  const std::string_view shape = kind == "bad" || kind == "warn" ? "▲"
                                 : kind == "paused"              ? "‖"
                                 : kind == "good"                ? "●"
                                                                 : "○";
  html.in("span", {{"class", "state " + std::string(kind)}}, [&] {
    html.leaf("span", {{"aria-hidden", "true"}, {"class", "shape"}}, shape);
    html.text(word);
  });
}

void write_link(Html& html, const std::string& address, std::string_view text) {
  html.leaf("a", {{"href", address}}, text);
}

void write_command(Html& html, std::string_view command) {
  html.in("p", {{"class", "command"}}, [&] {
    html.leaf("span", {{"class", "label"}}, "From the command line");
    html.leaf("code", command);
  });
}

void write_button(Html& html, const Visit& visit, const std::string& address, std::string_view text,
                  std::string_view kind) {
  html.in("form", {{"method", "post"}, {"action", address}}, [&] {
    html.empty("input", {{"type", "hidden"}, {"name", "form"}, {"value", visit.form_token}});
    html.leaf("button", {{"class", kind}}, text);
  });
}

void write_bulk_links(Html& html, const Visit& visit, const std::string& queue,
                      const std::string& filter) {
  const std::string address = queue_address(visit, queue) + "/dead/";
  html.in("p", {{"class", "actions"}}, [&] {
    html.leaf("a", {{"class", "button"}, {"href", address + "retry" + filter}},
              "Retry all that match");
    html.leaf("a", {{"class", "button danger"}, {"href", address + "discard" + filter}},
              "Discard all that match");
  });
}

void write_fact(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  html.in("div", [&] {
    html.leaf("dt", name);
    html.in("dd", [&] { html.leaf("bdi", value); });
  });
}

void write_heads(Html& html, std::initializer_list<Head> heads) {
  html.in("thead", [&] {
    html.in("tr", [&] {
      for (const Head& head : heads) {
        html.leaf("th", {{"scope", "col"}, {"class", head.number ? "number" : ""}}, head.name);
      }
    });
  });
}

void write_cell(Html& html, std::string_view label, std::string_view text) {
  html.leaf("td", {{"data-label", label}}, text);
}

void write_number(Html& html, std::string_view label, std::string_view text) {
  html.leaf("td", {{"data-label", label}, {"class", "number"}}, text);
}

}  // namespace allot::gateway::ui

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/ui/page.h"

// Formats numbers, times and addresses, and writes elements common to several pages.
namespace allot::gateway::ui {

// "12,345".
[[nodiscard]] std::string number(std::uint64_t value);
// A count of the API: "17", or "10,000+" if counting stopped.
[[nodiscard]] std::string count_text(const json& count);
// "3 min", "2 h", "5 days".
[[nodiscard]] std::string span(std::chrono::seconds seconds);
// "1.25 s" for a number of microseconds.
[[nodiscard]] std::string runtime(std::uint64_t microseconds);
[[nodiscard]] std::string size_text(std::uint64_t bytes);
// Parses "2026-11-28T15:42:23.000000Z".
[[nodiscard]] std::optional<std::chrono::sys_seconds> moment(std::string_view text);

// Fields of a document of the API; "" and 0 where they are missing or null.
[[nodiscard]] std::string text_of(const json& document, const char* name);
[[nodiscard]] std::uint64_t number_of(const json& document, const char* name);
[[nodiscard]] bool flag_of(const json& document, const char* name);
// null and an empty list if missing.
[[nodiscard]] const json& part_of(const json& document, const char* name);
[[nodiscard]] const json& list_of(const json& document, const char* name);
// The elements of `items`; none if missing.
[[nodiscard]] const json& items_of(const Document* document);

// "host-a: version 0.1.0, before 0.0.9" of a deployment.
[[nodiscard]] std::string deployment_text(const json& deployment);

// A word for the command line, quoted for the shell if necessary.
[[nodiscard]] std::string shell_word(std::string_view word);

// Limit of a payload on a page.
inline constexpr std::size_t kMostPayload = std::size_t{64} << 10;

// Addresses.
[[nodiscard]] std::string task_address(const Visit& visit, std::string_view id);
[[nodiscard]] std::string queue_address(const Visit& visit, std::string_view queue);

// Elements.
void write_time(Html& html, const Visit& visit, const std::string& text);  // "3 min ago"
void write_state(Html& html, std::string_view kind, std::string_view word);
void write_link(Html& html, const std::string& address, std::string_view text);
void write_command(Html& html, std::string_view command);
// A form with one button, which runs the action at `address`.
void write_button(Html& html, const Visit& visit, const std::string& address, std::string_view text,
                  std::string_view kind);
// Links to the bulk actions on dead tasks of a queue; `filter` is the query: "?type=mail.send".
void write_bulk_links(Html& html, const Visit& visit, const std::string& queue,
                      const std::string& filter);
// A name and a value of a <dl>; nothing for an empty value.
void write_fact(Html& html, std::string_view name, std::string_view value);
// The header row of a table; headers of number columns are right-aligned like the numbers.
struct Head {
  Head(const char* text) : name(text) {}  // NOLINT(google-explicit-constructor)
  Head(std::string_view text, bool is_number) : name(text), number(is_number) {}
  std::string_view name;
  bool number = false;
};
void write_heads(Html& html, std::initializer_list<Head> heads);
// A cell of a table that becomes a list of cards on a narrow screen.
void write_cell(Html& html, std::string_view label, std::string_view text);
void write_number(Html& html, std::string_view label, std::string_view text);

}  // namespace allot::gateway::ui

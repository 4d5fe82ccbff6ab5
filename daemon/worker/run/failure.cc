// SPDX-License-Identifier: Apache-2.0
#include "worker/run/failure.h"

#include <optional>
#include <string_view>

#include "queue/model/error_text.h"
#include "worker/run/stack_trace.h"

namespace allot::worker {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view without_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::string_view first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return without_end(text.substr(begin, text.find('\n', begin) - begin));
}

std::string message_of(const plugin_host::CallResult& said, const StackTrace* trace) {
  const std::string_view happened = first_line(said.reason);
  // The text of an exception describes the failure.
  const bool is_told = said.kind == plugin_host::OutcomeKind::kException && !happened.empty();
  if (is_told) return std::string(happened);
  if (trace != nullptr) return trace->message;
  const std::string_view shown = first_line(said.detail);
  if (happened.empty() || shown.empty()) return std::string(happened) + std::string(shown);
  return std::string(happened) + ": " + std::string(shown);
}

std::string whole_of(const plugin_host::CallResult& said) {
  if (said.detail.empty()) return said.reason;
  std::string_view reason = without_end(said.reason);
  std::string_view detail = without_end(said.detail);
  if (reason.empty() || detail.find(reason) != std::string_view::npos) return std::string(detail);
  // The last words of a program say why it died.
  reason = reason.substr(0, queue::kMostMessage);
  const std::size_t room = queue::kMostErrorText - reason.size() - 1;
  if (detail.size() > room) detail.remove_prefix(detail.size() - room);
  return std::string(reason) + "\n" + std::string(detail);
}

// Perl writes the place into the message: "cannot connect at mail.pl line 12."
std::string_view without_place(std::string_view message) {
  const std::size_t at = message.rfind(" at ");
  const bool names_line =
      at != std::string_view::npos && message.find(" line ", at) != std::string_view::npos;
  return names_line ? message.substr(0, at) : message;
}

// Part of the groups' key: the class of the exception, or a substitute.
std::string what_failed(const plugin_host::CallResult& said, const StackTrace& trace) {
  if (trace.exception.empty()) return queue::error_pattern(without_place(trace.message));
  if (said.kind != plugin_host::OutcomeKind::kException) return trace.exception;
  // Node prints the name of the base class if a class does not set its own.
  const std::string_view happened = first_line(said.reason);
  const std::string_view type = happened.substr(0, happened.find(": "));
  const bool is_class = !type.empty() && type.find(' ') == std::string_view::npos;
  return is_class ? std::string(type) : trace.exception;
}

std::string fault_of(const plugin_host::CallResult& said, const StackTrace& trace) {
  constexpr std::size_t kMostWhat = 120;  // leaves room for the place
  const std::string what = queue::error_text(what_failed(said, trace), kMostWhat);
  std::string fault = what;
  if (!trace.function.empty()) fault += " in " + trace.function;
  if (!trace.file.empty()) fault += " (" + trace.file + ")";
  // Without its own place the class alone would put unlike errors into one group.
  return fault == what ? std::string() : queue::error_text(fault, queue::kMostFault);
}

}  // namespace

Failure failure_of(const plugin_host::CallResult& said) {
  const std::optional<StackTrace> trace =
      said.detail.empty() ? std::nullopt : last_stack_trace(said.detail);
  Failure failure;
  failure.message =
      queue::error_text(message_of(said, trace ? &*trace : nullptr), queue::kMostMessage);
  failure.detail = whole_of(said);
  if (failure.detail == failure.message) failure.detail.clear();
  if (trace) failure.fault = fault_of(said, *trace);
  return failure;
}

std::string_view last_lines(std::string_view detail, std::size_t most) {
  if (detail.size() <= most) return detail;
  detail.remove_prefix(detail.size() - most);
  const std::size_t line = detail.find('\n') + 1;  // 0 without a line break
  return line < detail.size() ? detail.substr(line) : detail;
}

}  // namespace allot::worker

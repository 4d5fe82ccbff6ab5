// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/host_hooks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {
namespace {

CallAnswer not_offered() {
  return {ALLOT_BAD_INPUT, "this call is not available here"};
}

HostHooks& hooks_of(void* context) {
  return *static_cast<HostHooks*>(context);
}

void log_line(void* context, std::int32_t level, allot_str text) {
  hooks_of(context).log(level, view(text));
}
std::int32_t stop_requested(void* context) {
  return hooks_of(context).stop_reason() != ALLOT_STOP_NONE ? 1 : 0;
}
std::int32_t stop_reason(void* context) {
  return hooks_of(context).stop_reason();
}
void progress(void* context, std::uint32_t percent, allot_str word) {
  hooks_of(context).progress(percent, view(word));
}
void heartbeat(void* context) {
  hooks_of(context).heartbeat();
}

// Sizes in version 1. They never change, unlike sizeof.
constexpr std::size_t kResultSize = offsetof(allot_result, error) + sizeof(allot_text);
constexpr std::size_t kSubmissionSize =
    offsetof(allot_submission, time_limit_ms) + sizeof(std::int64_t);

std::int32_t give(const CallAnswer& answer, allot_result* result) {
  if (result == nullptr || result->struct_size < kResultSize) return answer.code;
  result->affected = answer.affected;
  result->insert_id = answer.insert_id;
  result->error_number = answer.error_number;
  allot_text& text = result->error;
  text.size = text.data == nullptr ? 0 : std::min(answer.error.size(), text.capacity);
  if (text.size > 0) std::memcpy(text.data, answer.error.data(), text.size);
  return answer.code;
}

// False: a submission is malformed, and `answer` says so.
bool are_whole(const allot_submission* const* tasks, std::size_t count, CallAnswer& answer) {
  for (std::size_t i = 0; i < count; ++i) {
    if (tasks == nullptr || tasks[i] == nullptr || tasks[i]->struct_size < kSubmissionSize) {
      answer = {ALLOT_BAD_INPUT, "task " + std::to_string(i + 1) +
                                     " is null or too small; set struct_size = "
                                     "sizeof(allot_submission)"};
      return false;
    }
  }
  return true;
}

std::int32_t checkpoint(void* context, allot_str payload, allot_result* result) {
  return give(hooks_of(context).checkpoint(view(payload)), result);
}

std::int32_t submit(void* context, const allot_submission* const* tasks, std::size_t count,
                    allot_offer_function id, void* id_context, allot_result* result) {
  std::vector<std::string> ids;
  CallAnswer answer;
  if (are_whole(tasks, count, answer)) answer = hooks_of(context).submit({tasks, count}, ids);
  if (id != nullptr) {
    for (const std::string& one : ids) id(id_context, {one.data(), one.size()});
  }
  return give(answer, result);
}

std::int32_t replace_with(void* context, const allot_submission* const* tasks, std::size_t count,
                          allot_result* result) {
  CallAnswer answer;
  if (are_whole(tasks, count, answer)) answer = hooks_of(context).replace_with({tasks, count});
  return give(answer, result);
}

std::int32_t execute(void* context, allot_str statement, const allot_value* values,
                     std::size_t count, allot_row_function row, void* row_context,
                     allot_result* result) {
  TakeRow take_row;
  if (row != nullptr) {
    take_row = [&](std::span<const allot_str> fields) {
      row(row_context, fields.data(), fields.size());
    };
  }
  return give(hooks_of(context).execute(view(statement), {values, count}, take_row), result);
}

}  // namespace

CallAnswer HostHooks::checkpoint(std::string_view /*payload*/) noexcept {
  return not_offered();
}
CallAnswer HostHooks::submit(std::span<const allot_submission* const> /*tasks*/,
                             std::vector<std::string>& /*ids*/) noexcept {
  return not_offered();
}
CallAnswer HostHooks::replace_with(std::span<const allot_submission* const> /*tasks*/) noexcept {
  return not_offered();
}
CallAnswer HostHooks::execute(std::string_view /*statement*/,
                              std::span<const allot_value> /*values*/,
                              const TakeRow& /*take_row*/) noexcept {
  return not_offered();
}

allot_host host_of(HostHooks& hooks) {
  return {sizeof(allot_host), &hooks,       &log_line, &stop_requested,
          &heartbeat,         &checkpoint,  &submit,   &replace_with,
          &execute,           &stop_reason, &progress};
}

}  // namespace allot::plugin_host

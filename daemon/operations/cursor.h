// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queue/model/task_facts.h"
#include "queue/submit/submit.h"
#include "queue/views/task_lists.h"

// The end of a list page as one opaque word, which the client sends back to get the next page. A
// cursor is validated like any other input.
namespace allot::operations {

// The list that a cursor belongs to; a cursor of another list is refused.
enum class List : char {
  kWaiting = 'w',
  kRunning = 'r',
  kDead = 'd',
  kHistory = 'h',
  kBulk = 'b',
  kAudit = 'a',
  kMove = 'm'  // tasks that a request moves; its key is the run_key, as for waiting tasks
};

[[nodiscard]] std::string cursor_of(List list, const queue::TaskView& last);
[[nodiscard]] std::string cursor_of(const queue::Done& last);
// For the lists with numbered rows.
[[nodiscard]] std::string cursor_of(List list, std::uint64_t last);

// A row with the fields that the lists of queue/views need to continue. Throws Refusal, 400.
[[nodiscard]] queue::TaskView task_at(List list, std::string_view cursor);
[[nodiscard]] queue::Done done_at(std::string_view cursor);
[[nodiscard]] std::uint64_t number_at(List list, std::string_view cursor);

// A moment as in the rows of lists, with all six digits of its microseconds, so that the texts sort
// like the moments.
[[nodiscard]] std::string row_time(queue::Moment moment);

}  // namespace allot::operations

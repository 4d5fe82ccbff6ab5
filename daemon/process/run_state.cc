// SPDX-License-Identifier: Apache-2.0
#include "process/run_state.h"

namespace allot::process {
namespace {

using ipc::RunState;
using enum ipc::RunState;

// One row for each state, one column for each event; kNo: impossible.
constexpr auto kNo = static_cast<RunState>(0xff);
// clang-format off
constexpr RunState kTable[kRunStates][kRunEvents] = {
    // announce   begin     detach             return             finish             refund              end
    {kAnnounced,  kRunning, kNo,               kNo,               kNo,               kNo,                kNo},    // Free
    {kNo,         kRunning, kNo,               kNo,               kNo,               kRefunding,         kFree},  // Announced
    {kNo,         kNo,      kRunningDetached,  kReturned,         kNo,               kNo,                kNo},    // Running
    {kNo,         kNo,      kReturnedDetached, kNo,               kFinished,         kRefunding,         kFree},  // Returned
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // Finished
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // Refunding
    {kNo,         kNo,      kNo,               kReturnedDetached, kNo,               kNo,                kNo},    // RunningDetached
    {kNo,         kNo,      kNo,               kNo,               kFinishedDetached, kRefundingDetached, kFree},  // ReturnedDetached
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // FinishedDetached
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // RefundingDetached
};
// clang-format on

}  // namespace

std::optional<RunState> next_state(RunState state, RunEvent event) {
  const RunState next = kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
  return next == kNo ? std::nullopt : std::optional(next);
}

}  // namespace allot::process

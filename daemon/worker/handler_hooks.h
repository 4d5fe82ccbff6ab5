// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/log.h"
#include "plugin_host/host_hooks.h"
#include "worker/running_mark.h"
#include "worker/stop_request.h"
#include "worker/task_writes.h"

namespace allot::worker {

// What a handler may ask of this process while it runs.
class HandlerHooks : public plugin_host::HostHooks {
 public:
  HandlerHooks(std::string_view task, std::string_view type, Nanos soft_deadline_ns,
               RunningMark& mark, TaskWrites& writes)
      : task_(task),
        type_(type),
        soft_deadline_ns_(soft_deadline_ns),
        mark_(mark),
        writes_(writes) {}

  void log(int level, std::string_view text) noexcept override {
    const auto at = static_cast<log::Level>(std::clamp(level, 0, 3));
    log::write(at, "handler.log", {{"task", task_}, {"type", type_}, {"text", text}});
  }
  bool stop_requested() noexcept override {
    return asked() == Asked::kStop || boot_ns() >= soft_deadline_ns_ || !mark_.valid() ||
           mark_.cancelled();
  }
  void heartbeat() noexcept override { mark_.progress(boot_ns()); }

  plugin_host::CallAnswer checkpoint(std::string_view payload) noexcept override {
    return writes_.checkpoint(payload);
  }
  plugin_host::CallAnswer submit(std::span<const allot_submission* const> tasks,
                                 std::vector<std::string>& ids) noexcept override {
    return writes_.submit(tasks, ids);
  }
  plugin_host::CallAnswer replace_with(
      std::span<const allot_submission* const> tasks) noexcept override {
    return writes_.replace_with(tasks);
  }
  plugin_host::CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                                  const plugin_host::TakeRow& take_row) noexcept override {
    return writes_.execute(statement, values, take_row);
  }

 private:
  std::string_view task_;
  std::string_view type_;
  Nanos soft_deadline_ns_;
  RunningMark& mark_;
  TaskWrites& writes_;
};

}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "config/settings.h"
#include "meter/meter.h"

namespace allot::process {

// The meter of a slot, for the process that has it. nullptr: this process has no supervisor, or the
// meter cannot be opened, which is logged: the work continues without it.
[[nodiscard]] std::unique_ptr<meter::Meter> own_meter(const config::Settings& settings,
                                                      std::uint32_t slot);

}  // namespace allot::process

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "peer/doorbell.h"

namespace allot::cli {

// Runtime folder of the configured instance, for bells; empty if it belongs to another user.
std::string local_folder(const config::Settings& settings);

// The bells of that instance.
[[nodiscard]] peer::Ringer ringer_of(const config::Settings& settings);

}  // namespace allot::cli

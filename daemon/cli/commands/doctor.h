// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/sources/context.h"

namespace allot::cli {

struct DoctorOptions {
  bool json = false;
};

// allot doctor prints one line for each check: ok, warn or fail, and how to fix it. It changes
// nothing, except that it creates the queues of the configuration, as allot check does. The exit
// code is 0 when nothing fails, else that of the first check that fails.
int doctor(const Context& context, const DoctorOptions& options);

}  // namespace allot::cli

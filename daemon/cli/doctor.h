// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/context.h"

namespace allot::cli {

struct DoctorOptions {
  bool json = false;
};

// allot doctor: one line for each thing that was looked at: ok, warn or fail, and how to mend it.
// Changes nothing but that queues of the configuration are made, as by allot check. Exit code 0
// when nothing fails, else that of the first thing that does.
int doctor(const Context& context, const DoctorOptions& options);

}  // namespace allot::cli

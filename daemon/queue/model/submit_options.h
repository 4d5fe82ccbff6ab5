// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "allot/submit_options.h"

namespace allot::queue {

using allot::Compression;
using allot::Moment;
using allot::SubmitOptions;

}  // namespace allot::queue

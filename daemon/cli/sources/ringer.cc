// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/ringer.h"

#include "base/error.h"

namespace allot::cli {

std::string local_folder(const config::Settings& settings) {
  try {
    return config::runtime_dir(settings);
  } catch (const Error&) {
    return "";
  }
}

peer::Ringer ringer_of(const config::Settings& settings) {
  return peer::Ringer(local_folder(settings));
}

}  // namespace allot::cli

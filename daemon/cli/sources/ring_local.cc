// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/ring_local.h"

#include "base/error.h"
#include "peer/doorbell.h"

namespace allot::cli {

void ring_local(const config::Settings& settings,
                const std::map<std::uint32_t, std::size_t>& tasks) {
  // The tasks are submitted already; a missing board is not an error for the submitter.
  const std::string folder = local_folder(settings);
  if (!folder.empty()) peer::ring_at(folder.c_str(), tasks);
}

std::string local_folder(const config::Settings& settings) {
  try {
    return config::runtime_dir(settings);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace allot::cli

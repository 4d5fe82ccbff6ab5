// SPDX-License-Identifier: Apache-2.0
#include "process/own.h"

#include <cerrno>
#include <cstring>

#include "ipc/slot.h"
#include "log/log.h"
#include "meter/record_file.h"
#include "peer/inherited.h"

namespace allot::process {

std::unique_ptr<meter::Meter> own_meter(const config::Settings& settings, std::uint32_t slot) {
  if (!peer::inherited(ipc::kSlotFd)) return nullptr;
  const auto run = meter::run_of(ipc::kSlotFd);
  if (!run) return nullptr;
  meter::Record* record = meter::open_record(config::runtime_dir(settings), slot, *run);
  if (record != nullptr) return std::make_unique<meter::Meter>(*record);
  log::warn("meter.missing", {{"slot", slot},
                              {"error", std::strerror(errno)},
                              {"hint", "allot metrics does not include this worker"}});
  return nullptr;
}

}  // namespace allot::process

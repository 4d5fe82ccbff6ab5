// SPDX-License-Identifier: Apache-2.0
// Output of a program that failed: whatever it wrote, the shown part is bounded, and a
// message and a fault are one line.
#include <cstdlib>
#include <string>

#include "fuzz/fuzz.h"
#include "queue/model/error_text.h"
#include "worker/run/failure.h"

namespace {

void expect(bool promise) {
  if (!promise) std::abort();
}

bool is_line(const std::string& text, std::size_t most) {
  return text.size() <= most && text.find('\n') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using allot::plugin_host::OutcomeKind;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& reason : {std::string("exit code 1"), text}) {
    for (const OutcomeKind kind : {OutcomeKind::kRetry, OutcomeKind::kException}) {
      const auto failure = allot::worker::failure_of({kind, std::nullopt, reason, text});
      expect(is_line(failure.message, allot::queue::kMostMessage));
      expect(is_line(failure.fault, allot::queue::kMostFault));
      expect(failure.detail.size() <= reason.size() + 1 + text.size());
      expect(failure.detail != failure.message || failure.detail.empty());
    }
  }
  return 0;
}

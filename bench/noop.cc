// SPDX-License-Identifier: Apache-2.0
// The handler that "allot bench" measures with: the time it takes is the system's, not the work's.
#include <allot/plugin.hpp>

namespace {

class Noop : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& /*ctx*/) override { return allot::success(); }
};

ALLOT_HANDLER("bench.noop", Noop)

}  // namespace

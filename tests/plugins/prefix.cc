// SPDX-License-Identifier: Apache-2.0
//
// Types and prefixes that overlap. Each handler fails with what it was offered for.
#include <allot/plugin.hpp>

namespace {

template <char which>
class Named : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    return allot::fail(std::string(1, which) + " " + std::string(ctx.type()));
  }
};

ALLOT_HANDLER("mail.*", Named<'1'>)
ALLOT_HANDLER("mail.fast.*", Named<'2'>)
ALLOT_HANDLER("mail.fast.now", Named<'3'>)
ALLOT_HANDLER("mail", Named<'4'>)

}  // namespace

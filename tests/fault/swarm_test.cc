// SPDX-License-Identifier: Apache-2.0
// Short draws of a swarm. Two found defects that were put back (README.md), and the last one cuts
// connections with TLS; scripts/fault --swarm runs as many as time allows.
#include "fault/swarm.h"

#include <gtest/gtest.h>

namespace allot::fault {
namespace {

class Swarm : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Swarm, KeepsWhatWasPromised) {
  const Draw draw = make_draw(GetParam());
  const auto result = run_draw(draw, support::Database::shared(),
                               ALLOT_EVIDENCE_FOLDER "/" + std::to_string(draw.seed));
  EXPECT_TRUE(result.clean()) << text_of(draw, result);
  EXPECT_GT(result.verdict.acknowledged, 20U);
}

INSTANTIATE_TEST_SUITE_P(Draws, Swarm, testing::Values(100'001, 500'210, 500'463, 2'499));

}  // namespace
}  // namespace allot::fault

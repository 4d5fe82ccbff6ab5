// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fault/campaign.h"

namespace allot::fault {

// For people, in Markdown.
std::string table_of(const CampaignOptions& options, const CampaignResult& result);

}  // namespace allot::fault

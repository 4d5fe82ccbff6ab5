// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "operations/route.h"

// The API is the operations over HTTP, under their names.
namespace allot::gateway::api {

using namespace operations;

// The OpenAPI document, as JSON.
[[nodiscard]] std::string openapi(std::string_view base_path, bool read_only);
// docs/http.md with its reference section regenerated; empty: the page has no place for it.
[[nodiscard]] std::string with_reference(const std::string& page);

}  // namespace allot::gateway::api

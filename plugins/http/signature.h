// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace http_plugin {

// HMAC-SHA256 of both parts with this secret, in hexadecimal digits. The body is not copied.
std::string signature_of(std::string_view secret, std::string_view words, std::string_view body);

}  // namespace http_plugin

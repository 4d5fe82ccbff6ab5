// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::bench {

// Writes a key (P-256) and a self-signed certificate for 127.0.0.1, both as PEM. Throws Error.
void make_certificate(const std::string& cert_file, const std::string& key_file);

}  // namespace allot::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.h"

namespace allot::db {

// Prepares a handle before it connects.
void use_tls(st_mysql& handle, const TlsOptions& options);

// Called after connecting. False: the connection is not encrypted although it should be. The
// connector itself accepts that unless it has to verify.
[[nodiscard]] bool is_as_wanted(st_mysql& handle, const TlsOptions& options);

// Cause of a TLS error while connecting. All except the last are faults of the server or of the
// configuration, which waiting does not fix.
enum class TlsFailure { kUntrusted, kNotOffered, kNetwork };
[[nodiscard]] TlsFailure tls_failure(st_mysql& handle);
// For kUntrusted: what is wrong with the certificate of `host`, as far as the connector reports it.
[[nodiscard]] std::string why_untrusted(st_mysql& handle, const std::string& host);

}  // namespace allot::db

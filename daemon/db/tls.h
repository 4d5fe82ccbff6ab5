// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.h"

namespace allot::db {

// Prepares a handle that is not connected yet.
void use_tls(st_mysql& handle, const TlsOptions& options);

// Call it after connecting. False: the connection is not encrypted although it should be. The
// connector itself accepts that unless it has to verify.
[[nodiscard]] bool is_as_wanted(st_mysql& handle, const TlsOptions& options);

// Why a handle failed to connect with an error of TLS. All but the last are faults of the other
// side or the configuration, which waiting does not fix.
enum class TlsFailure { kUntrusted, kNotOffered, kNetwork };
[[nodiscard]] TlsFailure tls_failure(st_mysql& handle);
// Of kUntrusted: what is wrong with the certificate of `host`, as far as the connector says it.
[[nodiscard]] std::string why_untrusted(st_mysql& handle, const std::string& host);

}  // namespace allot::db

// SPDX-License-Identifier: Apache-2.0
// This file has the differences between the two connectors.
#include "db/tls.h"

#include <mysql.h>

namespace allot::db {
namespace {

const char* file_or_null(const std::string& file) {
  return file.empty() ? nullptr : file.c_str();
}

#ifdef MARIADB_BASE_VERSION
void set_mode(st_mysql& handle, Tls mode) {
  const char enforce = mode == Tls::kOff ? 0 : 1;
  const char verify = mode == Tls::kVerify ? 1 : 0;
  mysql_options(&handle, MYSQL_OPT_SSL_ENFORCE, &enforce);
  mysql_options(&handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}
#else
void set_mode(st_mysql& handle, Tls mode) {
  const unsigned value = mode == Tls::kOff        ? SSL_MODE_DISABLED
                         : mode == Tls::kRequired ? SSL_MODE_REQUIRED
                                                  : SSL_MODE_VERIFY_IDENTITY;
  mysql_options(&handle, MYSQL_OPT_SSL_MODE, &value);
}
#endif

}  // namespace

void use_tls(st_mysql& handle, const TlsOptions& options) {
  set_mode(handle, options.mode);
  if (options.mode == Tls::kOff) return;
  mysql_ssl_set(&handle, file_or_null(options.key), file_or_null(options.cert),
                file_or_null(options.ca), nullptr, nullptr);
}

bool is_as_wanted(st_mysql& handle, const TlsOptions& options) {
  return options.mode == Tls::kOff || mysql_get_ssl_cipher(&handle) != nullptr;
}

// The connector has one number for all of these failures, so the text has to tell them apart.
TlsFailure tls_failure(st_mysql& handle) {
  const std::string_view text = mysql_error(&handle);
  if (text.find("does not support") != std::string_view::npos) return TlsFailure::kNotOffered;
  if (text.find("ertificate") != std::string_view::npos) return TlsFailure::kUntrusted;
  // MariaDB's since 3.4: of a name that the certificate does not have.
  if (text.find("ostname verification") != std::string_view::npos) return TlsFailure::kUntrusted;
  return TlsFailure::kNetwork;
}

}  // namespace allot::db

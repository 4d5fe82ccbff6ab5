// SPDX-License-Identifier: Apache-2.0
// Contains the differences between the two connectors.
#include "db/tls.h"

#include <errmsg.h>
#include <mysql.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "db/distrust.h"

namespace allot::db {
namespace {

const char* file_or_null(const std::string& file) {
  return file.empty() ? nullptr : file.c_str();
}

std::string from_environment(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Names the certificates that OpenSSL itself would trust. Without them, MySQL's connector verifies
// nothing, and MariaDB's since 3.4 accepts any certificate of a server that afterwards proves that
// it knows the account's password: an attacker in between has that proof by then.
void trust_system(st_mysql& handle, const TlsOptions& options) {
  const std::string folder =
      from_environment(X509_get_default_cert_dir_env(), X509_get_default_cert_dir());
  std::string file =
      from_environment(X509_get_default_cert_file_env(), X509_get_default_cert_file());
  if (::access(file.c_str(), R_OK) != 0) file.clear();  // Debian 12 has only the folder
  mysql_ssl_set(&handle, file_or_null(options.key), file_or_null(options.cert), file_or_null(file),
                folder.c_str(), nullptr);
}

#ifdef MARIADB_BASE_VERSION
// An option of the connector since 3.4; older ones refuse it and do not need it.
constexpr auto kVerificationCallback = static_cast<mysql_option>(7031);

// The callback's argument begins with this.
struct TlsHead {
  void* data;
  MARIADB_PVIO* pvio;
  void* ssl;
};

// The handle that this thread is connecting.
thread_local st_mysql* t_connecting = nullptr;

// nullptr: the certificate names the host and is signed by a trusted authority.
const char* fault_of(st_mysql& handle, const TlsHead& tls) {
  const char* library = nullptr;
  if (mariadb_get_infov(&handle, MARIADB_TLS_LIBRARY, &library) != 0 || library == nullptr ||
      std::strncmp(library, "OpenSSL", 7) != 0 || tls.pvio != handle.net.pvio) {
    return "this build of the connector is unknown";
  }
  auto* ssl = static_cast<SSL*>(tls.ssl);
  if (ssl == nullptr || handle.host == nullptr) return "nothing to compare";
  const long result = SSL_get_verify_result(ssl);
  if (result != X509_V_OK) return X509_verify_cert_error_string(result);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl),
                                                                X509_free);
  if (!certificate) return "the server has none";
  const bool named =
      X509_check_host(certificate.get(), handle.host, std::strlen(handle.host), 0, nullptr) == 1 ||
      X509_check_ip_asc(certificate.get(), handle.host, 0) == 1;
  return named ? nullptr : X509_verify_cert_error_string(X509_V_ERR_HOSTNAME_MISMATCH);
}

// Runs in the handshake, before the account is sent. By itself the connector does not check the
// name if the host is 127.0.0.1 or ::1, which may be a tunnel, and checks nothing with
// MARIADB_TLS_DISABLE_PEER_VERIFICATION in the environment.
int verify_server(const TlsHead* tls, unsigned /*what it would look at*/) {
  st_mysql* handle = t_connecting;
  if (handle == nullptr || tls == nullptr) return 1;
  const char* fault = fault_of(*handle, *tls);
  if (fault == nullptr) return 0;
  NET& net = handle->net;
  net.last_errno = CR_SSL_CONNECTION_ERROR;
  std::snprintf(net.last_error, sizeof net.last_error, "the certificate is refused: %s", fault);
  std::snprintf(net.sqlstate, sizeof net.sqlstate, "HY000");
  return 1;
}

void verify_ourselves(st_mysql& handle) {
  t_connecting = &handle;
  mysql_options(&handle, kVerificationCallback, reinterpret_cast<const void*>(&verify_server));
}

void set_mode(st_mysql& handle, Tls mode) {
  const char enforce = mode == Tls::kOff ? 0 : 1;
  const char verify = mode == Tls::kVerify ? 1 : 0;
  mysql_options(&handle, MYSQL_OPT_SSL_ENFORCE, &enforce);
  mysql_options(&handle, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
}
#else
void verify_ourselves(st_mysql& /*handle*/) {}

void set_mode(st_mysql& handle, Tls mode) {
  const unsigned value = mode == Tls::kOff        ? SSL_MODE_DISABLED
                         : mode == Tls::kRequired ? SSL_MODE_REQUIRED
                                                  : SSL_MODE_VERIFY_IDENTITY;
  mysql_options(&handle, MYSQL_OPT_SSL_MODE, &value);
  // MySQL's default authentication (caching_sha2_password) accepts no password in clear text.
  // Without TLS, MySQL's library requests a key from the server only if this option is set;
  // MariaDB's always does.
  const bool ask = mode == Tls::kOff;
  mysql_options(&handle, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &ask);
}
#endif

// The fault that the connector names, as an OpenSSL number. MariaDB's uses the texts of OpenSSL,
// and before 3.4 its own if the name differs; MySQL's names none (X509_V_OK).
int fault_in(std::string_view text) {
  if (text.find("Validation of SSL server certificate failed") != std::string_view::npos) {
    return X509_V_ERR_HOSTNAME_MISMATCH;
  }
  // The first text contains the second.
  for (const int fault :
       {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
        X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_HOSTNAME_MISMATCH,
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE}) {
    if (text.find(X509_verify_cert_error_string(fault)) != std::string_view::npos) return fault;
  }
  return X509_V_OK;
}

}  // namespace

void use_tls(st_mysql& handle, const TlsOptions& options) {
  set_mode(handle, options.mode);
  if (options.mode == Tls::kOff) return;
  if (options.mode == Tls::kVerify) verify_ourselves(handle);
  if (options.mode == Tls::kVerify && options.ca.empty()) return trust_system(handle, options);
  mysql_ssl_set(&handle, file_or_null(options.key), file_or_null(options.cert),
                file_or_null(options.ca), nullptr, nullptr);
}

bool is_as_wanted(st_mysql& handle, const TlsOptions& options) {
  return options.mode == Tls::kOff || mysql_get_ssl_cipher(&handle) != nullptr;
}

// The connector has one number for all of these failures, so the text has to distinguish them.
TlsFailure tls_failure(st_mysql& handle) {
  const std::string_view text = mysql_error(&handle);
  for (const char* words : {"does not support", "doesn't support"}) {
    if (text.find(words) != std::string_view::npos) return TlsFailure::kNotOffered;
  }
  if (text.find("ertificate") != std::string_view::npos) return TlsFailure::kUntrusted;
  return TlsFailure::kNetwork;
}

std::string why_untrusted(st_mysql& handle, const std::string& host) {
  const std::string text = mysql_error(&handle);
  const int fault = fault_in(text);
  if (fault != X509_V_OK) return distrust_text(fault, host, "[database] tls_ca");
  return text + "; its certificate must name '" + host +
         "' and be signed by an authority of [database] tls_ca";
}

}  // namespace allot::db

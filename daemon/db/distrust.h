// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/x509_vfy.h>

#include <string>

namespace allot::db {

// Why a certificate is not trusted, by an OpenSSL error number: date, name or authority. `host` is
// the name that it should have, `key` the setting that adds authorities.
inline std::string distrust_text(int error, const std::string& host, const std::string& key) {
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate does not match the name '" + host + "'";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "its certificate is self-signed; " + key +
             " may name it, if it is the right certificate";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "its certificate is not signed by a trusted authority; " + key +
             " can name the right one";
    default:
      return std::string("its certificate is refused: ") + X509_verify_cert_error_string(error);
  }
}

}  // namespace allot::db

// SPDX-License-Identifier: Apache-2.0
#include "tls.h"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/StreamSocket.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <stdexcept>

#include "address.h"
#include "trouble.h"

namespace http_plugin {
namespace {

namespace net = Poco::Net;

// Verification error of this thread's handshake, set by OpenSSL's callback. The library reports
// only that the handshake failed.
thread_local int t_distrust = X509_V_OK;

int remember(int is_fine, X509_STORE_CTX* store) {
  if (is_fine == 0) t_distrust = X509_STORE_CTX_get_error(store);
  return is_fine;
}

std::string words_of(int distrust, const Origin& origin) {
  switch (distrust) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate does not match the name " + origin.host;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "its certificate is self-signed; tls_ca may name it, if it is the right certificate";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "its certificate is not signed by a trusted authority; tls_ca can name the right one";
    default:
      return X509_verify_cert_error_string(distrust);
  }
}

// Verifies the name within the handshake, before any task data is sent.
void expect_name(SSL_CTX* context, const Origin& origin) {
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const int done = parse_address(origin.host)
                       ? X509_VERIFY_PARAM_set1_ip_asc(wanted, origin.host.c_str())
                       : X509_VERIFY_PARAM_set1_host(wanted, origin.host.c_str(), 0);
  if (done != 1) throw std::invalid_argument("no name for a certificate: " + origin.host);
}

}  // namespace

struct Tls::Context {
  net::Context::Ptr poco;
};

Tls::Tls(const Origin& origin, const TlsFiles& files) : origin_(origin) {
  try {
    net::Context::Ptr made =
        new net::Context(net::Context::TLS_CLIENT_USE, files.key, files.cert, files.ca,
                         net::Context::VERIFY_STRICT, 9, files.ca.empty());
    made->requireMinimumProtocol(net::Context::PROTO_TLSV1_2);
    SSL_CTX_set_verify(made->sslContext(), SSL_VERIFY_PEER, &remember);
    expect_name(made->sslContext(), origin);
    context_ = std::make_unique<Context>(Context{made});
  } catch (const Poco::Exception& error) {
    throw std::invalid_argument("tls_ca, tls_cert or tls_key cannot be used: " +
                                error.displayText());
  }
}

Tls::~Tls() = default;

net::StreamSocket Tls::secured(const net::StreamSocket& plain) const {
  t_distrust = X509_V_OK;
  try {
    // SNI must not contain an IP address.
    const std::string name = parse_address(origin_.host) ? "" : origin_.host;
    return net::SecureStreamSocket::attach(plain, name, context_->poco);
  } catch (const Poco::Exception& error) {
    const std::string why =
        t_distrust == X509_V_OK ? error.displayText() : words_of(t_distrust, origin_);
    ERR_clear_error();  // otherwise the next OpenSSL call in this thread reports it
    throw Trouble("TLS handshake failed with " + text_of(origin_) + ": " + why);
  }
}

}  // namespace http_plugin

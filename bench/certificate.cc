// SPDX-License-Identifier: Apache-2.0
#include "bench/certificate.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>

#include "base/error.h"

namespace allot::bench {
namespace {

constexpr long kValidSeconds = 86'400;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* cert) const { X509_free(cert); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using File = std::unique_ptr<std::FILE, Free>;

Certificate certificate_of(EVP_PKEY* key) {
  Certificate cert(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), kValidSeconds);
  X509_set_pubkey(cert.get(), key);
  X509_NAME* name = X509_get_subject_name(cert.get());
  const auto* text = reinterpret_cast<const unsigned char*>("127.0.0.1");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(cert.get(), name);
  if (X509_sign(cert.get(), key, EVP_sha256()) == 0) throw Error("a certificate cannot be signed");
  return cert;
}

File opened(const std::string& name) {
  File file(std::fopen(name.c_str(), "we"));
  if (!file || fchmod(fileno(file.get()), 0600) != 0) throw Error(name + " cannot be written");
  return file;
}

}  // namespace

void make_certificate(const std::string& cert_file, const std::string& key_file) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) throw Error("a key cannot be made");
  const Certificate cert = certificate_of(key.get());
  if (PEM_write_PrivateKey(opened(key_file).get(), key.get(), nullptr, nullptr, 0, nullptr,
                           nullptr) != 1 ||
      PEM_write_X509(opened(cert_file).get(), cert.get()) != 1) {
    throw Error(cert_file + " and its key cannot be written");
  }
}

}  // namespace allot::bench

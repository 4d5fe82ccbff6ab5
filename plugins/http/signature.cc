// SPDX-License-Identifier: Apache-2.0
#include "signature.h"

#include <openssl/evp.h>

#include <array>
#include <memory>

#include "trouble.h"

namespace http_plugin {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string signature_of(std::string_view secret, std::string_view words, std::string_view body) {
  const std::unique_ptr<EVP_PKEY, Free> key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nullptr, bytes(secret), secret.size()));
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  std::size_t size = mac.size();
  EVP_MD_CTX* const at = context.get();
  if (key == nullptr || at == nullptr ||
      EVP_DigestSignInit(at, nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSignUpdate(at, words.data(), words.size()) != 1 ||
      EVP_DigestSignUpdate(at, body.data(), body.size()) != 1 ||
      EVP_DigestSignFinal(at, mac.data(), &size) != 1) {
    throw Trouble("the request cannot be signed");
  }
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[mac[i] >> 4U];
    text += kDigits[mac[i] & 15U];
  }
  return text;
}

}  // namespace http_plugin

// SPDX-License-Identifier: Apache-2.0
#include "fault/tls_side.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace allot::fault {
namespace {

constexpr std::size_t kHead = 4;           // three bytes of length, lowest first, and the number
constexpr std::size_t kNumber = 3;         // position of the packet number
constexpr std::size_t kTlsRequest = 36;    // including its head
constexpr std::uint8_t kClientSsl = 0x08;  // in the second byte of the capabilities

std::size_t size_of(std::string_view head) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(head[at]); };
  return kHead + byte(0) + (std::size_t{byte(1)} << 8U) + (std::size_t{byte(2)} << 16U);
}

void set_bit(char& byte, bool on) {
  const auto value = static_cast<std::uint8_t>(byte);
  byte = static_cast<char>(on ? value | kClientSsl : value & ~kClientSsl);
}

// The connector names its process: length and text "_pid", then length and text of the number.
pid_t pid_in(std::string_view login) {
  constexpr std::string_view kName = "\x04_pid";
  const std::size_t name = login.find(kName);
  if (name == std::string_view::npos || name + kName.size() >= login.size()) return 0;
  const char* digits = login.data() + name + kName.size() + 1;
  const auto length = static_cast<std::uint8_t>(login[name + kName.size()]);
  pid_t pid = 0;
  std::from_chars(digits, std::min(digits + length, login.data() + login.size()), pid);
  return pid;
}

}  // namespace

TlsIdentity::TlsIdentity() : context_(::SSL_CTX_new(::TLS_server_method())) {
  const auto files = authority_.issue("proxy", "IP:127.0.0.1");
  if (::SSL_CTX_use_certificate_file(context_.get(), files.cert.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw std::runtime_error("the proxy's certificate cannot be used");
  }
}

TlsSide::TlsSide(const TlsIdentity& identity)
    : ssl_(identity.open()), in_(::BIO_new(::BIO_s_mem())), out_(::BIO_new(::BIO_s_mem())) {
  ::SSL_set_bio(ssl_.get(), in_, out_);
  ::SSL_set_accept_state(ssl_.get());
}

void TlsSide::each_packet(std::string& unread, const std::function<void(std::string)>& use) {
  while (unread.size() >= kHead && unread.size() >= size_of(unread)) {
    const std::size_t size = size_of(unread);
    use(unread.substr(0, size));
    unread.erase(0, size);
  }
}

// After the version, which ends with 0: the connection id, 8 bytes of salt and a 0.
void TlsSide::offer_tls(std::string greeting) {
  constexpr char kProtocol = 10;  // otherwise it is an error
  const std::size_t end = greeting.find('\0', kHead + 1);
  const std::size_t capabilities = end + 1 + 4 + 8 + 1;
  if (greeting.at(kHead) == kProtocol && capabilities + 1 < greeting.size()) {
    set_bit(greeting[capabilities + 1], true);
  }
  wire_ += greeting;
  state_ = State::kRequest;
}

std::optional<std::string> TlsSide::from_client(std::string_view wire) {
  if (state_ == State::kRequest) {
    unread_ += wire;
    if (unread_.size() < kTlsRequest) return std::string();
    if (size_of(unread_) != kTlsRequest) return std::nullopt;
    wire = {};
    ::BIO_write(in_, unread_.data() + kTlsRequest, static_cast<int>(unread_.size() - kTlsRequest));
    unread_.clear();
    state_ = State::kLogin;
  }
  if (!wire.empty()) ::BIO_write(in_, wire.data(), static_cast<int>(wire.size()));
  if (!decrypt()) return std::nullopt;
  if (state_ == State::kOpen) return std::exchange(unread_, {});
  std::string plain;
  each_packet(unread_, [&](std::string packet) { plain += without_tls(std::move(packet)); });
  return plain;
}

// The client has sent one packet more than the server will see.
std::string TlsSide::without_tls(std::string login) {
  --login[kNumber];
  if (!std::exchange(named_, true)) {
    set_bit(login.at(kHead + 1), false);
    pid_ = pid_in(login);
  }
  return login;
}

void TlsSide::from_server(std::string_view plain) {
  if (state_ == State::kOpen) return encrypt(plain);
  unread_server_ += plain;
  each_packet(unread_server_, [this](std::string packet) {
    if (state_ == State::kGreeting) return offer_tls(std::move(packet));
    if (state_ == State::kOpen) return encrypt(packet);
    ++packet[kNumber];
    const auto kind = static_cast<std::uint8_t>(packet.at(kHead));
    if (kind == 0x00 || kind == 0xff) state_ = State::kOpen;  // welcome, or an error
    encrypt(packet);
  });
}

bool TlsSide::decrypt() {
  std::array<char, 16384> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  for (;;) {
    ::ERR_clear_error();
    const int got = ::SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (got > 0) {
      unread_.append(bytes.data(), static_cast<std::size_t>(got));
      continue;
    }
    return ::SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ;
  }
}

void TlsSide::encrypt(std::string_view plain) {
  if (plain.empty()) return;
  ::SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
}

std::string TlsSide::take_wire() {
  std::string wire = std::exchange(wire_, {});
  std::array<char, 16384> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  for (int got = 0; (got = ::BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()))) > 0;) {
    wire.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return wire;
}

}  // namespace allot::fault

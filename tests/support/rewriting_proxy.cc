// SPDX-License-Identifier: Apache-2.0
#include "support/rewriting_proxy.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace allot::support {
namespace {

constexpr std::size_t kHead = 4;  // three bytes of length, lowest first, and the packet number
constexpr char kQuery = 3;        // COM_QUERY

UniqueFd unix_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "socket");
  return fd;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  }
  path.copy(address.sun_path, path.size());
  return address;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void add_size(std::string& out, std::size_t size) {
  for (const unsigned shift : {0U, 8U, 16U}) out += static_cast<char>((size >> shift) & 0xffU);
}

// The server's first packet with another version, which follows the protocol byte and ends with a
// zero. The packet is small, so it was read as a whole.
std::string greeted(std::string_view packet, const std::string& version) {
  const std::size_t end = packet.find('\0', kHead + 1);
  std::string payload(packet.substr(kHead, 1));
  payload += version;
  payload += packet.substr(end);
  std::string out;
  add_size(out, payload.size());
  out += packet[kHead - 1];
  return out + payload;
}

// Removes the complete packets from `unread`. Only queries of one packet are rewritten, because the
// tests send no others.
std::string rewritten(std::string& unread, const RewritingProxy::Rewrite& rewrite) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(unread[at]); };
  std::string out;
  while (unread.size() >= kHead) {
    const std::size_t size = byte(0) + (std::size_t{byte(1)} << 8U) + (std::size_t{byte(2)} << 16U);
    if (unread.size() < kHead + size) break;
    std::string payload = unread.substr(kHead, size);
    const char number = unread[3];
    unread.erase(0, kHead + size);
    if (number == 0 && !payload.empty() && payload[0] == kQuery) {
      payload = kQuery + rewrite(payload.substr(1));
    }
    add_size(out, payload.size());
    out += number + payload;
  }
  return out;
}

}  // namespace

RewritingProxy::RewritingProxy(std::string listen_at, std::string server, Rewrite rewrite,
                               std::string greeting)
    : listen_at_(std::move(listen_at)),
      server_(std::move(server)),
      rewrite_(std::move(rewrite)),
      greeting_(std::move(greeting)),
      listener_(unix_socket()),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  const sockaddr_un address = address_of(listen_at_);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0) {
    throw std::system_error(errno, std::generic_category(), listen_at_);
  }
  thread_ = std::thread([this] { accept_all(); });
}

RewritingProxy::~RewritingProxy() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  for (std::thread& link : links_) link.join();
  ::unlink(listen_at_.c_str());
}

void RewritingProxy::accept_all() {
  for (;;) {
    std::array<pollfd, 2> polled{{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) continue;
    if (polled[1].revents != 0) return;
    const int client = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) links_.emplace_back([this, fd = UniqueFd(client)] { serve(fd); });
  }
}

void RewritingProxy::serve(const UniqueFd& client) const {
  const UniqueFd server = unix_socket();
  const sockaddr_un address = address_of(server_);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return;
  }
  std::string unread;
  bool greets = !greeting_.empty();
  std::array<char, 16384> bytes{};
  for (;;) {
    std::array<pollfd, 3> polled{
        {{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) continue;
    if (polled[2].revents != 0) return;
    const bool from_client = polled[0].revents != 0;
    const int from = from_client ? client.get() : server.get();
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0) return;
    const std::string_view read(bytes.data(), static_cast<std::size_t>(got));
    if (from_client) unread += read;
    const std::string answer =
        std::exchange(greets, false) ? greeted(read, greeting_) : std::string(read);
    if (!(from_client ? send_all(server.get(), rewritten(unread, rewrite_))
                      : send_all(client.get(), answer))) {
      return;
    }
  }
}

}  // namespace allot::support

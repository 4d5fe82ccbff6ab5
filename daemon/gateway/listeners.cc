// SPDX-License-Identifier: Apache-2.0
#include "gateway/listeners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "trust/trust.h"

namespace allot::gateway {
namespace {

constexpr int kBacklog = 4096;  // connections that wait while the process executes itself

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error("cannot listen at " + where + ": " + why, kExitCannotCreate);
}

Address address_of(const config::Server& server) {
  Address address;
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (::inet_pton(AF_INET6, server.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(server.port);
    address.size = sizeof *six;
  } else if (::inet_pton(AF_INET, server.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(server.port);
    address.size = sizeof *four;
  }
  return address;
}

Address address_of(const std::string& path) {
  Address address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (path.size() >= sizeof local->sun_path) {
    refuse(path, "the path has " + std::to_string(path.size()) +
                     " bytes; the limit of a unix socket is 107. Set socket in [gateway]");
  }
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
  address.size = sizeof *local;
  return address;
}

// The local address of a socket; without a family if unknown.
Address own_address(int fd) {
  Address own;
  own.size = sizeof own.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own.storage), &own.size) != 0) return {};
  return own;
}

// A socket bound to the wildcard address accepts connections at any address of the host.
bool is_every_address(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(
        &reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr);
  }
  return address.storage.ss_family == AF_INET &&
         reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr == INADDR_ANY;
}

in_port_t port_of(const Address& address) {  // at the same offset in both families
  return reinterpret_cast<const sockaddr_in&>(address.storage).sin_port;
}

// Whether a descriptor listens at that address already.
bool listens_at(int fd, const Address& address) {
  const Address own = own_address(fd);
  if (own.storage.ss_family != address.storage.ss_family) return false;
  if (own.storage.ss_family == AF_UNIX) {
    return std::strcmp(reinterpret_cast<const sockaddr_un*>(&own.storage)->sun_path,
                       reinterpret_cast<const sockaddr_un*>(&address.storage)->sun_path) == 0;
  }
  return own.size == address.size && std::memcmp(&own.storage, &address.storage, own.size) == 0;
}

UniqueFd new_socket(const Address& address) {
  return UniqueFd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Removes the file left by a killed gateway; a file at which a process answers belongs to another
// gateway.
void remove_stale(const std::string& path, const Address& address) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) refuse(path, "the file exists and is not a socket");
  const UniqueFd probe = new_socket(address);
  if (::connect(probe.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED) {
    refuse(path, "another process is listening on it");
  }
  ::unlink(path.c_str());
}

UniqueFd listen_at(const std::string& text, const Address& address) {
  UniqueFd fd = new_socket(address);
  const int on = 1;
  const bool local = address.storage.ss_family == AF_UNIX;
  if (!local) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.storage.ss_family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const mode_t before = ::umask(0117);  // access for the account and its group
  const int bound = ::bind(fd.get(), address.get(), address.size);
  const int error = errno;
  ::umask(before);
  if (bound != 0) refuse(text, std::strerror(error));
  if (::listen(fd.get(), kBacklog) != 0) refuse(text, std::strerror(errno));
  return fd;
}

ino_t file_of(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

Listeners::Listeners(const config::Settings& settings, const std::vector<int>& handed_on)
    : encrypted_(!settings.gateway->tls_cert.empty()), socket_(config::gateway_socket(settings)) {
  std::vector<UniqueFd> former;
  for (const int fd : handed_on) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    former.emplace_back(fd);
  }
  const auto take = [&](const Address& address) {
    const auto found = std::find_if(former.begin(), former.end(), [&](const UniqueFd& fd) {
      return fd.valid() && listens_at(fd.get(), address);
    });
    return found == former.end() ? UniqueFd() : std::exchange(*found, UniqueFd());
  };
  const auto add = [&](const config::Server& server, bool fireworq) {
    const bool six = server.host.find(':') != std::string::npos;
    const std::string text =
        (six ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
    const Address address = address_of(server);
    UniqueFd fd = take(address);
    if (!fd.valid()) fd = listen_at(text, address);
    places_.push_back({text, std::move(fd), false, fireworq});
  };
  for (const config::Server& server : settings.gateway->addresses) add(server, false);
  if (settings.gateway->fireworq) add(settings.gateway->fireworq->address, true);
  const Address address = address_of(socket_);
  UniqueFd fd = take(address);
  if (!fd.valid()) {
    const std::string folder = socket_.substr(0, socket_.rfind('/'));
    if (settings.gateway->socket.empty()) {
      trust::make_folder(folder, trust::Role::kOwnFolder, "[daemon] runtime_dir");
    }
    remove_stale(socket_, address);
    fd = listen_at(socket_, address);
  }
  places_.push_back({socket_, std::move(fd), true, false});
  socket_file_ = file_of(socket_);
}

Listeners::~Listeners() {
  if (!socket_.empty() && socket_file_ != 0 && file_of(socket_) == socket_file_) {
    ::unlink(socket_.c_str());
  }
}

std::vector<http::Listener> Listeners::for_server(http::Application* fireworq) const {
  std::vector<http::Listener> listeners;
  for (const Place& place : places_) {
    UniqueFd fd(::fcntl(place.fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!fd.valid()) refuse(place.address, std::strerror(errno));
    listeners.push_back({std::move(fd), encrypted_ && !place.local && !place.fireworq, place.local,
                         place.fireworq ? fireworq : nullptr});
  }
  return listeners;
}

Listeners::At Listeners::place_of(int connection) const {
  const Address own = own_address(connection);
  const auto found = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    if (encrypted_ && !place.local && !place.fireworq) return false;
    const Address listener = own_address(place.fd.get());
    if (own.storage.ss_family != listener.storage.ss_family) return false;
    if (is_every_address(listener)) return port_of(own) == port_of(listener);
    return listens_at(place.fd.get(), own);
  });
  if (found == places_.end()) return At::kNone;
  return found->fireworq ? At::kFireworq : At::kApi;
}

std::vector<int> Listeners::hand_on() {
  std::vector<int> numbers;
  for (const Place& place : places_) {
    ::fcntl(place.fd.get(), F_SETFD, 0);
    numbers.push_back(place.fd.get());
  }
  socket_.clear();
  return numbers;
}

std::string Listeners::text() const {
  std::string text;
  for (const Place& place : places_) text += (text.empty() ? "" : ", ") + place.address;
  return text;
}

}  // namespace allot::gateway

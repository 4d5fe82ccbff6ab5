// SPDX-License-Identifier: Apache-2.0
#include "fault/proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "fault/host.h"

namespace allot::fault {
namespace {

constexpr int kClient = 0;
constexpr int kServer = 1;
constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
// The replies to the statements of one trip follow each other; all of them are lost.
constexpr Nanoseconds kReplyTime = 50 * kMillisecond;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  path.copy(address.sun_path, path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

UniqueFd stream_socket(int family, int flags) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "socket");
  return fd;
}

void listen_on(const UniqueFd& fd, const sockaddr* address, socklen_t size,
               const std::string& where) {
  if (::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    throw std::system_error(errno, std::generic_category(), where);
  }
}

// Listens on 127.0.0.1. Returns the port.
std::uint16_t listen_on_a_port(const UniqueFd& fd) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  listen_on(fd, reinterpret_cast<const sockaddr*>(&address), size, "127.0.0.1");
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

pid_t peer_of(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

// Beginning of the server's first packet: 4 bytes of head, protocol 10, its version with a 0 at its
// end, then the connection id, lowest byte first.
std::uint32_t connection_id(std::string_view greeting) {
  if (greeting.size() < 6 || greeting[4] != 10) return 0;
  const std::size_t end = greeting.find('\0', 5);
  if (end == std::string_view::npos || end + 5 > greeting.size()) return 0;
  std::uint32_t id = 0;
  for (std::size_t i = 4; i > 0; --i)
    id = (id << 8U) | static_cast<std::uint8_t>(greeting[end + i]);
  return id;
}

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

// True if any of this is committed when the server has finished with it. A write outside of a
// transaction is. `open`: whether a transaction is open; updated.
bool commits(std::string_view bytes, bool& open) {
  const std::size_t commit = bytes.rfind("COMMIT");
  if (commit != std::string_view::npos && !bytes.substr(commit).starts_with("COMMITTED")) {
    open = false;
    return true;
  }
  if (has(bytes, "ROLLBACK")) open = false;
  if (has(bytes, "BEGIN")) open = true;
  return !open && (has(bytes, "INSERT INTO ") || has(bytes, "UPDATE q_lock_table") ||
                   has(bytes, "UPDATE task") || has(bytes, "DELETE FROM "));
}

}  // namespace

const char* name_of(Trouble trouble) {
  constexpr std::array kNames{"delay", "cut", "black_hole", "lose_reply", "half_open", "orphan"};
  return kNames.at(static_cast<std::size_t>(trouble));
}

struct Proxy::Link {
  enum class State { kPassing, kSilent, kLosing, kHolding };

  std::array<UniqueFd, 2> ends;
  std::unique_ptr<TlsSide> tls;       // on the client's end; nullptr: without TLS
  std::array<std::string, 2> unsent;  // bytes for that end
  std::string held;                   // bytes for the server, sent later
  bool let_go = false;                // nothing is held any more
  bool gave_up = false;               // the client gave up while something was held
  pid_t pid = 0;
  std::uint32_t connection = 0;
  unsigned asked = 0;
  State state = State::kPassing;
  bool in_transaction = false;
  Trouble trouble = Trouble::kDelay;
  Reach reach = Reach::kOne;
  Nanoseconds began = 0;
  Nanoseconds until = kNever;
  std::array<std::size_t, 2> polled{};  // index into the poll set + 1; 0: absent
  std::array<short, 2> events{};
};

Proxy::Proxy(std::string listen_at, std::string server, Wire wire)
    : listen_at_(std::move(listen_at)),
      server_(std::move(server)),
      tls_(wire == Wire::kTls ? std::make_unique<TlsIdentity>() : nullptr),
      listener_(stream_socket(tls_ ? AF_INET : AF_UNIX, SOCK_NONBLOCK)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (tls_) {
    port_ = listen_on_a_port(listener_);
  } else {
    const sockaddr_un address = address_of(listen_at_);
    listen_on(listener_, generic(address), sizeof address, listen_at_);
  }
  thread_ = std::thread([this] { loop(); });
}

Proxy::~Proxy() {
  stop_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
  if (!tls_) ::unlink(listen_at_.c_str());
}

std::string Proxy::database_keys() const {
  if (!tls_) return "socket = \"" + listen_at_ + "\"";
  return "host = \"127.0.0.1\"\nport = " + std::to_string(port_) +
         "\ntls = \"verify\"\ntls_ca = \"" + tls_->ca() + "\"";
}

db::ConnectOptions Proxy::to_proxy(db::ConnectOptions options) const {
  if (!tls_) {
    options.socket = listen_at_;
    return options;
  }
  options.socket.clear();
  options.servers = {{"127.0.0.1", port_}};
  options.tls = {.mode = db::Tls::kVerify, .ca = tls_->ca()};
  return options;
}

void Proxy::begin(Trouble trouble, bool all, std::uint64_t pick, std::chrono::milliseconds length) {
  const std::lock_guard lock(mutex_);
  const Nanoseconds until = now() + std::chrono::nanoseconds(length).count();
  if (trouble == Trouble::kLoseReply) {
    commit_ = {until, all};
  } else if (links_.empty()) {
    next_client_ = {trouble, until};
  } else if (all) {
    for (const auto& [id, link] : links_) start(*link, trouble, until, Reach::kAll);
  } else {
    const auto chosen = static_cast<std::ptrdiff_t>(pick % links_.size());
    Link& link = *std::next(links_.begin(), chosen)->second;
    if (link.pid != 0) start(link, trouble, until, Reach::kOne);
  }
  ::eventfd_write(wake_.get(), 1);
}

void Proxy::start(Link& link, Trouble trouble, Nanoseconds until, Reach reach) {
  if (link.state != Link::State::kPassing) return;  // one trouble at a time
  link.trouble = trouble;
  link.reach = reach;
  link.began = now();
  link.until = trouble == Trouble::kCut ? link.began : until;
  link.state = Link::State::kSilent;
  if (trouble == Trouble::kHalfOpen) link.ends[kServer].reset();
  if (trouble == Trouble::kOrphan) link.ends[kClient].reset();
}

void Proxy::hold_back(std::string text) {
  const std::lock_guard lock(mutex_);
  hold_ = std::move(text);
}

bool Proxy::holds() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(links_.begin(), links_.end(), [](const auto& entry) {
    return entry.second->state == Link::State::kHolding;
  });
}

// The link stays until the server answers, even without its client.
std::uint32_t Proxy::let_go() {
  const std::lock_guard lock(mutex_);
  delivered_ = false;
  for (const auto& [id, link] : links_) {
    if (link->state != Link::State::kHolding || link->let_go) continue;
    link->unsent[kServer] = std::exchange(link->held, {});
    link->let_go = true;
    ::eventfd_write(wake_.get(), 1);
    return link->connection;
  }
  return 0;
}

bool Proxy::delivered() const {
  const std::lock_guard lock(mutex_);
  return delivered_;
}

bool Proxy::troubled() {
  const std::lock_guard lock(mutex_);
  const bool now = std::any_of(links_.begin(), links_.end(), [](const auto& entry) {
    return entry.second->state != Link::State::kPassing;
  });
  return std::exchange(troubled_, false) || now;
}

std::vector<Fault> Proxy::take_faults() {
  const std::lock_guard lock(mutex_);
  return std::exchange(faults_, {});
}

std::vector<Proxy::Client> Proxy::clients() const {
  const std::lock_guard lock(mutex_);
  std::vector<Client> clients;
  for (const auto& [id, link] : links_) {
    clients.push_back({link->pid, link->connection, link->asked});
  }
  return clients;
}

void Proxy::note(const Link& link, Nanoseconds end) {
  troubled_ = true;
  faults_.push_back({name_of(link.trouble), link.pid, link.began, end, false, false, link.reach});
}

// True: the link has ended.
bool Proxy::expire(Link& link, Nanoseconds time) {
  if (time < link.until) return false;
  link.until = kNever;
  link.state = Link::State::kPassing;
  note(link, time);
  return link.trouble != Trouble::kDelay;
}

void Proxy::accept_one() {
  UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client.valid()) return;
  UniqueFd server = stream_socket(AF_UNIX, 0);
  const sockaddr_un address = address_of(server_);
  // Without a server the client sees the end at once, like a refusal.
  if (::connect(server.get(), generic(address), sizeof address) != 0) return;
  auto link = std::make_unique<Link>();
  if (tls_) {
    const int at_once = 1;
    ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    link->tls = std::make_unique<TlsSide>(*tls_);
  } else {
    link->pid = accountable_for(peer_of(client.get()));
  }
  link->ends = {std::move(client), std::move(server)};
  const std::lock_guard lock(mutex_);
  if (link->pid != 0) greet(*link);
  links_.emplace(next_++, std::move(link));
}

// Its client is known now.
void Proxy::greet(Link& link) {
  if (now() < next_client_.until)
    start(link, next_client_.trouble, next_client_.until, Reach::kOne);
  next_client_.until = 0;
}

// False: the link has ended.
bool Proxy::seen(Link& link, int from, std::string_view bytes) {
  if (from == kClient) ++link.asked;
  if (from == kServer) {
    if (link.connection == 0) link.connection = connection_id(bytes);
    if (link.state == Link::State::kLosing) {
      link.until = std::min(link.until, now() + kReplyTime);
      return true;  // lost
    }
    if (link.let_go) {
      delivered_ = true;
      if (link.gave_up) {  // the server executes all of it, then sees the end
        ::shutdown(link.ends[kServer].get(), SHUT_WR);
        return true;
      }
      link.let_go = false;
      link.state = Link::State::kPassing;
    }
  } else if (link.state == Link::State::kHolding && !link.let_go) {
    link.held.append(bytes);
    return true;
  } else if (!hold_.empty() && link.state == Link::State::kPassing && has(bytes, hold_)) {
    hold_.clear();
    link.state = Link::State::kHolding;
    link.held = bytes;
    return true;
  } else if (commits(bytes, link.in_transaction) && now() < commit_.until &&
             link.state == Link::State::kPassing) {
    if (!commit_.all) commit_.until = 0;
    link.trouble = Trouble::kLoseReply;
    link.reach = commit_.all ? Reach::kAll : Reach::kOne;
    link.state = Link::State::kLosing;
    link.began = now();
    // If no reply comes, because the server is busy or gone, the link is cut anyway.
    link.until = link.began + 20 * kReplyTime;
  }
  if (from == kServer && link.tls) {
    link.tls->from_server(bytes);
    link.unsent[kClient] += link.tls->take_wire();
  } else {
    link.unsent.at(static_cast<std::size_t>(1 - from)).append(bytes);
  }
  return true;
}

// Decrypted data from the client; nullopt: the client has ended.
std::optional<std::string> Proxy::decrypted(Link& link, std::string_view wire) {
  auto plain = link.tls->from_client(wire);
  link.unsent[kClient] += link.tls->take_wire();
  if (link.pid == 0 && link.tls->pid() != 0) {
    link.pid = accountable_for(link.tls->pid());
    greet(link);
  }
  return plain;
}

bool Proxy::pass(Link& link, int from) {
  const auto end = static_cast<std::size_t>(from);
  const short events = link.events.at(end);
  if ((events & POLLOUT) != 0) {
    std::string& unsent = link.unsent.at(end);
    const ssize_t sent =
        ::send(link.ends.at(end).get(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent > 0) unsent.erase(0, static_cast<std::size_t>(sent));
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return true;
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by recv
  const ssize_t got = ::recv(link.ends.at(end).get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN;
  const std::string_view read(bytes.data(), static_cast<std::size_t>(got));
  const bool encrypted = from == kClient && link.tls != nullptr && got > 0;
  const auto plain = encrypted ? decrypted(link, read) : std::nullopt;
  const bool ended = got == 0 || (encrypted && !plain);
  if (ended && from == kClient && link.state == Link::State::kHolding) {
    link.gave_up = true;
    return true;
  }
  if (ended) return false;
  if (encrypted && plain->empty()) return true;
  return seen(link, from, encrypted ? std::string_view(*plain) : read);
}

bool Proxy::serve(Link& link) {
  return !expire(link, now()) && pass(link, kClient) && pass(link, kServer);
}

void Proxy::loop() {
  std::vector<pollfd> set;
  while (!stop_) {
    set.assign({{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}});
    Nanoseconds first = now() + 1000 * kMillisecond;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [id, link] : links_) {
        first = std::min(first, link->until);
        link->polled = {};
        link->events = {};
        if (link->state == Link::State::kSilent) continue;
        for (std::size_t end = 0; end < 2; ++end) {
          if (end == kClient && link->gave_up) continue;
          short wanted = link->unsent.at(1 - end).empty() ? POLLIN : 0;
          if (!link->unsent.at(end).empty()) wanted = static_cast<short>(wanted | POLLOUT);
          set.push_back({link->ends.at(end).get(), wanted, 0});
          link->polled.at(end) = set.size();
        }
      }
    }
    const Nanoseconds wait = std::max<Nanoseconds>(0, first - now());
    const auto milliseconds = static_cast<int>((wait + kMillisecond - 1) / kMillisecond);
    ::poll(set.data(), set.size(), milliseconds);
    eventfd_t rung = 0;
    ::eventfd_read(wake_.get(), &rung);
    {
      const std::lock_guard lock(mutex_);
      for (auto at = links_.begin(); at != links_.end();) {
        Link& link = *at->second;
        for (std::size_t end = 0; end < 2; ++end) {
          // Trouble may have begun in between.
          const bool passing = link.polled.at(end) != 0 && link.state != Link::State::kSilent;
          link.events.at(end) = passing ? set.at(link.polled.at(end) - 1).revents : short{0};
        }
        if (serve(link)) {
          ++at;
          continue;
        }
        if (link.state == Link::State::kLosing) note(link, now());
        at = links_.erase(at);
      }
    }
    if ((set[0].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace allot::fault

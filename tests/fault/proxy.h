// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "db/connection.h"
#include "fault/evidence.h"
#include "fault/tls_side.h"

namespace allot::fault {

// Faults of a connection.
enum class Trouble {
  kDelay,      // nothing passes for some time, then all of it
  kCut,        // both sides see the end
  kBlackHole,  // nothing passes for some time, then it is cut silently
  kLoseReply,  // the next commit passes, its reply does not; then it is cut
  kHalfOpen,   // the server sees the end, the client hears nothing more for some time
  kOrphan,     // the client sees the end, the server hears nothing more for some time
};
const char* name_of(Trouble trouble);

// Transport between clients and the proxy.
enum class Wire {
  kPlain,  // over a Unix socket
  kTls,    // over TCP
};

// Proxy between clients and a server: real sockets, one thread, a poll loop. It reaches the server
// over a Unix socket. It reads the client's pid from its socket, with TLS from its login, and the
// server's connection id from its greeting.
class Proxy {
 public:
  // `listen_at` is not used with TLS. Throws std::system_error if it cannot listen.
  Proxy(std::string listen_at, std::string server, Wire wire = Wire::kPlain);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  // Lines of a section [database] that point to the proxy.
  [[nodiscard]] std::string database_keys() const;
  // The same instead of the server in `options`.
  [[nodiscard]] db::ConnectOptions to_proxy(db::ConnectOptions options) const;

  // Begins `trouble` on a connection chosen by `pick`, or on all; if there is none, on the next
  // one. Connections with an unknown client, in the handshake of TLS, are hit only with all.
  // `length` is its duration (kCut: not used). Does not wait for its end. kLoseReply hits the
  // connection with the next commit, or all that have one within `length`.
  void begin(Trouble trouble, bool all, std::uint64_t pick, std::chrono::milliseconds length);

  // Holds back the next client packet that contains `text`, with everything after it on its
  // connection, even if that client gives up or dies: like a slow network.
  void hold_back(std::string text);
  [[nodiscard]] bool holds() const;
  // Sends the held packet to the server. Returns the server's connection id; 0: the connection has
  // ended, and the packet is lost.
  std::uint32_t let_go();
  // True if the server has begun to answer the released packet.
  [[nodiscard]] bool delivered() const;

  // True if there was trouble since the last call, because a client in the middle of a transaction
  // may have kept its locks.
  [[nodiscard]] bool troubled();
  // Troubles that have ended.
  [[nodiscard]] std::vector<Fault> take_faults();

  struct Client {
    pid_t pid = 0;
    std::uint32_t connection = 0;  // the server's id; 0: not greeted yet
    unsigned asked = 0;            // number of packets sent; the first one is the login
  };
  [[nodiscard]] std::vector<Client> clients() const;

 private:
  struct Link;
  void loop();
  void accept_one();
  void greet(Link& link);
  // False: the link has ended.
  bool serve(Link& link);
  bool pass(Link& link, int from);
  bool seen(Link& link, int from, std::string_view bytes);
  std::optional<std::string> decrypted(Link& link, std::string_view wire);
  void start(Link& link, Trouble trouble, Nanoseconds until, Reach reach);
  bool expire(Link& link, Nanoseconds time);
  void note(const Link& link, Nanoseconds end);

  std::string listen_at_;
  std::string server_;
  std::unique_ptr<TlsIdentity> tls_;  // nullptr: without TLS
  std::uint16_t port_ = 0;            // with TLS
  UniqueFd listener_;
  UniqueFd wake_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;  // everything below
  std::map<std::uint64_t, std::unique_ptr<Link>> links_;
  std::uint64_t next_ = 0;
  struct {
    Nanoseconds until = 0;
    bool all = false;
  } commit_;
  struct {
    Trouble trouble = Trouble::kDelay;
    Nanoseconds until = 0;
  } next_client_;
  std::string hold_;  // text to search for; empty: none
  bool delivered_ = false;
  bool troubled_ = false;
  std::vector<Fault> faults_;
  std::thread thread_;
};

}  // namespace allot::fault

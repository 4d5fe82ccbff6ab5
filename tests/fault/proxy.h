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

// What the proxy can do to a connection.
enum class Trouble {
  kDelay,      // nothing passes for a while, then all of it
  kCut,        // both sides see the end
  kBlackHole,  // nothing passes for a while, then it is cut without notice
  kLoseReply,  // the next commit passes, its reply does not; then it is cut
  kHalfOpen,   // the server sees the end, the client hears nothing more for a while
  kOrphan,     // the client sees the end, the server hears nothing more for a while
};
const char* name_of(Trouble trouble);

// How clients reach the proxy.
enum class Wire {
  kPlain,  // over a Unix socket
  kTls,    // over TCP
};

// Sits between clients and a server: real sockets, one thread, a poll loop. It reaches the server
// over a Unix socket. It knows the client's pid from its socket, with TLS from its login, and the
// server's connection id from its greeting.
class Proxy {
 public:
  // `listen_at` is not used with TLS. Throws std::system_error when it cannot listen.
  Proxy(std::string listen_at, std::string server, Wire wire = Wire::kPlain);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  // Lines of a section [database] that lead to the proxy.
  [[nodiscard]] std::string database_keys() const;
  // The same in place of the server that `options` name.
  [[nodiscard]] db::ConnectOptions to_proxy(db::ConnectOptions options) const;

  // Begins `trouble` on a connection that `pick` chooses, or on all; if there is none, on the next
  // one. Of those whose client is not known yet, which are in the handshake of TLS, only on all.
  // `length` is how long it lasts (kCut: not used). Does not wait for its end. kLoseReply hits the
  // connection with the next commit, or all that have one within `length`.
  void begin(Trouble trouble, bool all, std::uint64_t pick, std::chrono::milliseconds length);

  // Holds back the next packet of a client in which `text` occurs, with everything after it on its
  // connection, also when that client gives up or dies: as in a slow network.
  void hold_back(std::string text);
  [[nodiscard]] bool holds() const;
  // Lets it reach the server now. Returns the server's id of its connection; 0: that has ended by
  // now, and the packet with it.
  std::uint32_t let_go();
  // True when the server has begun to answer the packet that was let go.
  [[nodiscard]] bool delivered() const;

  // Whether there was any trouble since the last call, because a client in the middle of a
  // transaction may have kept its locks.
  [[nodiscard]] bool troubled();
  // The troubles that are over by now.
  [[nodiscard]] std::vector<Fault> take_faults();

  struct Client {
    pid_t pid = 0;
    std::uint32_t connection = 0;  // the server's id of it; 0: not greeted yet
    unsigned asked = 0;            // how often it has sent something; the first time is its login
  };
  [[nodiscard]] std::vector<Client> clients() const;

 private:
  struct Link;
  void loop();
  void accept_one();
  void greet(Link& link);
  // False: the link is over.
  bool serve(Link& link);
  bool pass(Link& link, int from);
  bool seen(Link& link, int from, std::string_view bytes);
  std::optional<std::string> decrypted(Link& link, std::string_view wire);
  void start(Link& link, Trouble trouble, Nanoseconds until, Reach reach);
  bool expire(Link& link, Nanoseconds time);
  void note(const Link& link, Nanoseconds end);

  std::string listen_at_;
  std::string server_;
  std::unique_ptr<TlsIdentity> tls_;  // none: without TLS
  std::uint16_t port_ = 0;            // with TLS
  UniqueFd listener_;
  UniqueFd wake_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;  // all below
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
  std::string hold_;  // the text that is looked for; empty: none
  bool delivered_ = false;
  bool troubled_ = false;
  std::vector<Fault> faults_;
  std::thread thread_;
};

}  // namespace allot::fault

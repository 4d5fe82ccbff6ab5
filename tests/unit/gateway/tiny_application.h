// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gateway/http/application.h"
#include "gateway/http/server.h"
#include "support/http_client.h"
#include "support/temp_dir.h"
#include "thread/mutex.h"

namespace allot::test {

namespace http = gateway::http;
using support::Answer;
using support::HttpClient;

// Answers by the path: /hello, /echo (POST, 1,000 bytes), /late (on a signal of the test), /peer,
// /throws, /split (a field with a line end), /unknown (404), /lines (a stream), /health (also to
// guests), /anybody (to callers without a name).
class TinyApplication : public http::Application {
 public:
  http::Admission admit(const http::Head& head) override;
  http::Response refuse(unsigned status, const std::string& title) override;

  // Number of waiting requests to /late, and the answer to the first of them, in this thread.
  [[nodiscard]] std::size_t late() ALLOT_EXCLUDES(mutex_);
  void answer_late(const std::string& body) ALLOT_EXCLUDES(mutex_);

  // Streams: while held, batches are not answered. batches() has one element for each batch taken.
  void hold(bool held) { held_ = held; }
  [[nodiscard]] std::vector<std::string> batches() ALLOT_EXCLUDES(mutex_);
  // The answer to the waiting batch.
  void answer_batch(const std::string& text,
                    http::LineStream::Then then = http::LineStream::Then::kLines)
      ALLOT_EXCLUDES(mutex_);
  void took(const std::string& lines, http::LineStream::Written written) ALLOT_EXCLUDES(mutex_);

  // Limit of bodies, and the size that a stream claims to keep.
  void take_bodies(std::size_t most) { most_body_ = most; }
  void keep(std::size_t bytes) { kept_ = bytes; }
  [[nodiscard]] std::size_t kept() const { return kept_; }

  [[nodiscard]] int answered() const { return answered_; }

 private:
  void answer(const http::Request& request, http::Reply reply);

  Mutex mutex_;
  std::vector<http::Reply> late_ ALLOT_GUARDED_BY(mutex_);
  std::vector<std::string> batches_ ALLOT_GUARDED_BY(mutex_);
  http::LineStream::Written written_ ALLOT_GUARDED_BY(mutex_);
  std::atomic<bool> held_ = false;
  std::atomic<std::size_t> most_body_ = 1'000;
  std::atomic<std::size_t> kept_ = 0;
  std::atomic<int> answered_ = 0;
};

// A server in a thread, on a port and a unix socket, until destruction.
class RunningServer {
 public:
  explicit RunningServer(TinyApplication& application, const http::Limits& limits = {},
                         const http::Tls& tls = {});
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer();

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int tls_port() const { return tls_port_; }
  [[nodiscard]] std::string path() const { return folder_ / "socket"; }
  http::Server& server() { return *server_; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::vector<http::Listener> listeners(bool with_tls);

  support::TempDir folder_;
  int port_ = 0;
  int tls_port_ = 0;
  std::atomic<bool> ended_ = false;
  std::unique_ptr<http::Server> server_;
  std::thread thread_;
};

// A listener at a free port of the loopback.
http::Listener port_listener(int& port, bool encrypted = false);

std::string get(const std::string& path, const std::string& fields = {});
std::string post(const std::string& path, const std::string& body, const std::string& fields = {});

}  // namespace allot::test

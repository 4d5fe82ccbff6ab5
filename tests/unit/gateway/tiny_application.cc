// SPDX-License-Identifier: Apache-2.0
#include "unit/gateway/tiny_application.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <stdexcept>
#include <utility>

namespace allot::test {
namespace {

class TinyLines : public http::LineStream {
 public:
  explicit TinyLines(TinyApplication& application) : application_(application) {}

  void take(std::string lines, bool /*last*/, Written written) override {
    application_.took(lines, std::move(written));
  }
  void stop(const char* why, Written written) override {
    written("stopped: " + std::string(why) + "\n", Then::kEnd);
  }
  [[nodiscard]] std::size_t held() const override { return application_.kept(); }

 private:
  TinyApplication& application_;
};

UniqueFd listening(int family, const sockaddr* at, socklen_t size) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(fd.get(), at, size) != 0 || listen(fd.get(), 128) != 0) {
    throw std::runtime_error("cannot listen");
  }
  return fd;
}

http::Response text_response(unsigned status, std::string body) {
  http::Response response;
  response.status = status;
  response.type = "text/plain";
  response.body = std::move(body);
  return response;
}

}  // namespace

http::Admission TinyApplication::admit(const http::Head& head) {
  http::Admission admission;
  admission.answer = [this](const http::Request& request, http::Reply reply) {
    answer(request, std::move(reply));
  };
  admission.most_body = head.method == "POST" ? most_body_.load() : 0;
  admission.anonymous = head.path == "/anybody";
  admission.to_guests = head.path == "/health";
  if (head.path == "/unknown") admission.refusal = text_response(404, "no such path");
  if (head.path == "/admit-throws") throw std::runtime_error("made up");
  if (head.path == "/lines") {
    admission.lines = std::make_unique<TinyLines>(*this);
    admission.lines_type = "application/x-ndjson";
  }
  return admission;
}

void TinyApplication::answer(const http::Request& request, http::Reply reply) {
  const http::Head& head = request.head;
  ++answered_;
  if (head.path == "/throws") throw std::runtime_error("made up");
  if (head.path == "/late") {
    const MutexLock held(mutex_);
    late_.push_back(std::move(reply));
    return;
  }
  http::Response response = text_response(200, "hello");
  if (head.path == "/echo") response.body = request.body;
  if (head.path == "/fields") {
    response.body.clear();
    for (const auto& each : head.fields) response.body += each.name + "=" + each.value + "\n";
  }
  if (head.path == "/query") response.body = head.query;
  if (head.path == "/split") response.fields.push_back({"Location", "/a\r\nSet-Cookie: b"});
  if (head.path == "/empty") response = {204, {}, {}, {}};
  if (head.path == "/large") response.body = std::string(std::size_t{8} << 20, 'x');
  if (head.path == "/peer") {
    response.body = head.peer.address + " " +
                    (head.peer.uid ? std::to_string(*head.peer.uid) : "none") +
                    (head.peer.encrypted ? " encrypted" : " plain");
  }
  reply(std::move(response));
}

http::Response TinyApplication::refuse(unsigned status, const std::string& title) {
  return text_response(status, title);
}

std::size_t TinyApplication::late() {
  const MutexLock held(mutex_);
  return late_.size();
}

void TinyApplication::answer_late(const std::string& body) {
  http::Reply reply;
  {
    const MutexLock held(mutex_);
    reply = std::move(late_.front());
    late_.erase(late_.begin());
  }
  reply(text_response(200, body));
}

void TinyApplication::took(const std::string& lines, http::LineStream::Written written) {
  {
    const MutexLock held(mutex_);
    batches_.push_back(lines);
    if (held_) {
      written_ = std::move(written);
      return;
    }
  }
  written("took " + std::to_string(lines.size()) + "\n", http::LineStream::Then::kLines);
}

std::vector<std::string> TinyApplication::batches() {
  const MutexLock held(mutex_);
  return batches_;
}

void TinyApplication::answer_batch(const std::string& text, http::LineStream::Then then) {
  http::LineStream::Written written;
  {
    const MutexLock held(mutex_);
    written = std::exchange(written_, nullptr);
  }
  written(text, then);
}

http::Listener port_listener(int& port, bool encrypted) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  http::Listener listener;
  listener.fd = listening(AF_INET, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  listener.encrypted = encrypted;
  socklen_t size = sizeof at;
  getsockname(listener.fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  port = ntohs(at.sin_port);
  return listener;
}

std::vector<http::Listener> RunningServer::listeners(bool with_tls) {
  std::vector<http::Listener> all;
  all.push_back(port_listener(port_));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path().copy(at.sun_path, sizeof at.sun_path - 1);
  http::Listener local;
  local.fd = listening(AF_UNIX, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  local.local = true;
  all.push_back(std::move(local));
  if (with_tls) all.push_back(port_listener(tls_port_, true));
  return all;
}

RunningServer::RunningServer(TinyApplication& application, const http::Limits& limits,
                             const http::Tls& tls)
    : server_(std::make_unique<http::Server>(application, limits, listeners(!tls.cert_file.empty()),
                                             tls)) {
  thread_ = std::thread([this] {
    server_->run();
    ended_ = true;
  });
}

RunningServer::~RunningServer() {
  server_->stop(std::chrono::milliseconds(0));
  thread_.join();
}

std::string get(const std::string& path, const std::string& fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n";
}

std::string post(const std::string& path, const std::string& body, const std::string& fields) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         fields + "\r\n" + body;
}

}  // namespace allot::test

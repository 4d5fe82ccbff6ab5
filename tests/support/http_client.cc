// SPDX-License-Identifier: Apache-2.0
#include "support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace allot::support {
namespace {

UniqueFd connected(int family, const sockaddr* to, socklen_t size) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{20, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd.get(), to, size) != 0) throw std::runtime_error("cannot connect to the server");
  return fd;
}

}  // namespace

HttpClient HttpClient::to_port(int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return HttpClient(connected(AF_INET, reinterpret_cast<const sockaddr*>(&to), sizeof to));
}

HttpClient HttpClient::to_socket(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  path.copy(to.sun_path, sizeof to.sun_path - 1);
  return HttpClient(connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to));
}

// A refusing server may have closed before all is sent; its response is read nevertheless.
bool HttpClient::send(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

bool HttpClient::read_more() {
  std::array<char, 16'384> buffer{};
  const ssize_t count = recv(fd_.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return false;
  in_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> HttpClient::line() {
  for (;;) {
    const auto end = in_.find("\r\n");
    if (end != std::string::npos) {
      std::string text = in_.substr(0, end);
      in_.erase(0, end + 2);
      return text;
    }
    if (!read_more()) return {};
  }
}

std::optional<std::string> HttpClient::exactly(std::size_t size) {
  while (in_.size() < size) {
    if (!read_more()) return {};
  }
  std::string text = in_.substr(0, size);
  in_.erase(0, size);
  return text;
}

std::optional<Answer> HttpClient::head() {
  Answer answer;
  const auto first = line();
  if (!first || !first->starts_with("HTTP/1.1 ")) return {};
  answer.status = std::stoi(first->substr(9));
  for (;;) {
    const auto next = line();
    if (!next) return {};
    if (next->empty()) return answer;
    const auto colon = next->find(": ");
    std::string name = next->substr(0, colon);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    answer.fields[name] = next->substr(colon + 2);
  }
}

std::optional<std::string> HttpClient::chunk() {
  const auto size = line();
  if (!size) return {};
  const auto text = exactly(std::stoul(*size, nullptr, 16));
  if (!text || line() != "") return {};
  return text;
}

std::optional<Answer> HttpClient::answer(bool has_body) {
  auto answer = head();
  if (!answer || !has_body || answer->status == 100) return answer;
  if (answer->fields.contains("content-length")) {
    const auto body = exactly(std::stoul(answer->fields["content-length"]));
    if (!body) return {};
    answer->body = *body;
    return answer;
  }
  while (answer->fields["transfer-encoding"] == "chunked") {
    const auto next = chunk();
    if (!next) return {};
    if (next->empty()) break;
    answer->body += *next;
  }
  return answer;
}

std::string HttpClient::rest() {
  while (read_more()) {
  }
  return std::exchange(in_, {});
}

bool HttpClient::is_closed() {
  if (!in_.empty()) return false;
  char byte = 0;
  const ssize_t count = recv(fd_.get(), &byte, 1, 0);
  return count == 0 || (count < 0 && errno == ECONNRESET);
}

void HttpClient::shut_sending() {
  shutdown(fd_.get(), SHUT_WR);
}

}  // namespace allot::support

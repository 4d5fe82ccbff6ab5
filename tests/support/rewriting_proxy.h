// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace allot::support {

// Sits between clients and a server, over Unix sockets, and changes the SQL that passes: as a proxy
// that drops settings, or so that a server is met that does not know what a statement says. The
// answers are a real server's, but the version in its greeting may be another one.
class RewritingProxy {
 public:
  // `rewrite` gets each query's text and returns what the server is sent; several threads call it.
  using Rewrite = std::function<std::string(std::string)>;
  // A `greeting` that is not empty is the version of the server in the first packet.
  RewritingProxy(std::string listen_at, std::string server, Rewrite rewrite,
                 std::string greeting = {});
  RewritingProxy(const RewritingProxy&) = delete;
  RewritingProxy& operator=(const RewritingProxy&) = delete;
  ~RewritingProxy();

  [[nodiscard]] const std::string& socket() const { return listen_at_; }

 private:
  void accept_all();
  void serve(const UniqueFd& client) const;

  std::string listen_at_;
  std::string server_;
  Rewrite rewrite_;
  std::string greeting_;
  UniqueFd listener_;
  UniqueFd stop_;
  std::vector<std::thread> links_;  // only the first thread touches it until that has ended
  std::thread thread_;
};

}  // namespace allot::support

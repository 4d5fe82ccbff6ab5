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

// Proxy between clients and a server, over Unix sockets, that changes the SQL passing through: like
// a proxy that drops settings, or to simulate a server that does not know a statement. The
// responses come from a real server, but the version in its greeting may be replaced.
class RewritingProxy {
 public:
  // `rewrite` receives the text of each query and returns the text for the server; called by
  // several threads.
  using Rewrite = std::function<std::string(std::string)>;
  // A `greeting` that is not empty replaces the version of the server in the first packet.
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
  std::vector<std::thread> links_;  // used only by the first thread until it has ended
  std::thread thread_;
};

}  // namespace allot::support

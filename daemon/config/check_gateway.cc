// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "config/check.h"
#include "config/networks.h"
#include "config/rows.h"
#include "config/secret_file.h"
#include "config/servers.h"

namespace allot::config {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr off_t kLeastKey = 32;           // bytes of cookie_key_file
constexpr std::size_t kMostOfUser = 255;  // bytes of a user's name

class GatewayChecker : Check {
 public:
  GatewayChecker(Settings& settings, Problems& problems)
      : Check(settings, problems), gateway_(*settings.gateway) {}

  void run() {
    check_account();
    check_listen();
    check_tls();
    check_cookie_key();
    check_names();
    check_proxies();
    if (gateway_.fireworq) check_fireworq(*gateway_.fireworq);
    for (GatewayToken& token : gateway_.tokens) check_token(token);
    for (const GatewayUser& user : gateway_.users) check_user(user);
    warn_unused();
  }

 private:
  [[nodiscard]] bool says(const std::string& key) const { return has("gateway." + key); }

  void check_account() {
    Database& own = gateway_.database;
    const Database& of_workers = settings_.database;
    if (says("database.embedded")) {
      return problem("gateway.database.embedded",
                     "[gateway.database] has no embedded; it is a key "
                     "of [database]");
    }
    own.embedded = of_workers.embedded;
    inherit();
    if (own.embedded.empty() && !says("database.user")) {
      return problem(
          "gateway.database.user",
          "[gateway] needs its own database account, limited to the rights of its tokens: write "
          "[gateway.database] with user and password_file (docs/database.md)");
    }
    check_database(settings_, own, "gateway.database", problems_);
    if (!own.embedded.empty() || own.user != of_workers.user) return;
    if (!has("database.user")) return;  // a file for the gateway alone
    warn("gateway.database.user",
         "[gateway.database] user is also the user of [database]; a gateway should not have the "
         "rights of workers");
  }

  // The address is inherited as a whole, so that a socket here is not combined with a host there.
  void inherit() {
    Database& own = gateway_.database;
    const Database& from = settings_.database;
    const bool address = says("database.host") || says("database.port") || says("database.hosts") ||
                         says("database.socket");
    if (!address) {
      own.host = from.host;
      own.port = from.port;
      own.hosts = from.hosts;
      own.socket = from.socket;
    }
    if (!address && !says("database.tls") && !says("database.tls_ca")) {
      own.tls = from.tls;
      own.tls_ca = from.tls_ca;
    }
    if (!says("database.name")) own.name = from.name;
    if (!says("database.connect_timeout")) own.connect_timeout = from.connect_timeout;
    if (!says("database.call_timeout")) own.call_timeout = from.call_timeout;
  }

  void check_listen() {
    for (const std::string& text : gateway_.listen) {
      const auto server = address_of("gateway.listen", "[gateway] ", text);
      if (!server) continue;
      gateway_.addresses.push_back(*server);
      const bool local = is_loopback(*parse_address(server->host));
      if (local || !gateway_.tls_cert.empty() || gateway_.insecure) continue;
      problem("gateway.listen",
              "[gateway] listen: '" + text +
                  "' can be reached from other hosts, and tokens would cross the network in clear "
                  "text; set tls_cert and tls_key, or insecure = true");
    }
  }

  // nullopt, and a problem, unless the text is an address with a port.
  std::optional<Server> address_of(const std::string& path, const std::string& header,
                                   const std::string& text) {
    const auto server = parse_server(text, 0);
    if (server && server->port != 0 && parse_address(server->host)) return server;
    problem(path, header + "listen: '" + text +
                      "' is not an address with a port; write \"127.0.0.1:8080\" or "
                      "\"[::1]:8080\"");
    return std::nullopt;
  }

  void check_host_names(const std::string& path, const std::string& key,
                        const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (is_word(name, ".-_")) continue;
      problem(path, key + ": '" + name + "' is not a name; write \"jobs.example.com\"");
    }
  }

  void check_tls() {
    if (gateway_.tls_cert.empty() != gateway_.tls_key.empty()) {
      problem(gateway_.tls_key.empty() ? "gateway.tls_cert" : "gateway.tls_key",
              "[gateway] tls_cert and tls_key need each other");
    }
    for (const auto& [key, file] :
         {std::pair{"tls_cert", &gateway_.tls_cert}, {"tls_key", &gateway_.tls_key}}) {
      if (file->empty() || ::access(file->c_str(), R_OK) == 0) continue;
      problem(std::string("gateway.") + key, std::string("[gateway] ") + key + ": cannot read " +
                                                 *file + ": " + std::strerror(errno));
    }
    if (gateway_.tls_key.empty()) return;
    const std::string text = shared_secret("private key", gateway_.tls_key);
    if (!text.empty()) warn("gateway.tls_key", text);
  }

  void check_cookie_key() {
    const std::string& file = gateway_.cookie_key_file;
    if (file.empty()) return;
    struct stat status {};
    if (::access(file.c_str(), R_OK) != 0 || ::stat(file.c_str(), &status) != 0) {
      return problem("gateway.cookie_key_file", "[gateway] cookie_key_file: cannot read " + file +
                                                    ": " + std::strerror(errno));
    }
    if (status.st_size < kLeastKey) {
      return problem("gateway.cookie_key_file",
                     "[gateway] cookie_key_file: " + file +
                         " has fewer than 32 bytes; head -c 32 /dev/urandom makes such a key");
    }
    const std::string text = shared_secret("cookie key", file);
    if (!text.empty()) warn("gateway.cookie_key_file", text);
  }

  void check_names() {
    check_host_names("gateway.hosts", "[gateway] hosts", gateway_.hosts);
    std::string& path = gateway_.base_path;
    if (path == "/") path.clear();
    if (path.empty()) return;
    if (path.front() == '/' && path.back() != '/' && is_word(path, "/._~-") &&
        path.find("//") == path.npos) {
      return;
    }
    problem("gateway.base_path", "[gateway] base_path is \"" + path +
                                     "\"; write a path such as \"/allot\", without a / at its end");
  }

  void check_proxies() {
    for (const std::string& text : gateway_.trusted_proxies) {
      if (text != "unix" && !parse_network(text)) {
        problem("gateway.trusted_proxies",
                "[gateway] trusted_proxies: '" + text +
                    "' is not an address; write \"192.0.2.7\", \"192.0.2.0/24\" or \"unix\"");
      }
      if (text == "unix" && gateway_.grant != "none") {
        problem("gateway.trusted_proxies",
                "[gateway] trusted_proxies has unix, so a proxy uses the unix socket, which needs "
                "grant = \"none\"; otherwise each user of the proxy has the role of the socket");
      }
    }
    const std::string& field = gateway_.user_header;
    if (field.empty()) return;
    std::string lower = field;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 4> kTaken = {"authorization", "cookie", "host",
                                                        "origin"};
    if (!is_word(field, "-_") || std::find(kTaken.begin(), kTaken.end(), lower) != kTaken.end()) {
      problem("gateway.user_header", "[gateway] user_header is \"" + field +
                                         "\"; write the name of a field of its own, such as "
                                         "\"X-Forwarded-User\"");
    }
    if (gateway_.trusted_proxies.empty()) {
      problem("gateway.user_header",
              "[gateway] user_header needs trusted_proxies, the only addresses that may send it");
    }
    gateway_.user_header = lower;
  }

  void check_fireworq(GatewayFireworq& fireworq) {
    const std::string header = "[gateway.fireworq] ";
    const auto server = address_of("gateway.fireworq.listen", header, fireworq.listen);
    if (server) fireworq.address = *server;
    const auto& others = gateway_.addresses;
    if (server && std::find(others.begin(), others.end(), *server) != others.end()) {
      problem("gateway.fireworq.listen",
              header + "listen: [gateway] listens at '" + fireworq.listen +
                  "' already; some paths exist in both, so each needs its own port");
    }
    for (const std::string& text : fireworq.allow_from) {
      if (parse_network(text)) continue;
      problem("gateway.fireworq.allow_from", header + "allow_from: '" + text +
                                                 "' is not an address; write \"192.0.2.7\" or "
                                                 "\"192.0.2.0/24\"");
    }
    check_host_names("gateway.fireworq.names", header + "names", fireworq.names);
    for (const std::string& origin : fireworq.allow_origins) {
      const bool scheme = origin.starts_with("http://") || origin.starts_with("https://");
      if (scheme && origin.find('/', origin.find("//") + 2) == std::string::npos) continue;
      problem("gateway.fireworq.allow_origins", header + "allow_origins: '" + origin +
                                                    "' is not an origin; write "
                                                    "\"http://console.example.com:8888\"");
    }
    if (fireworq.queue_default.size() > kMostOfUser) {
      problem("gateway.fireworq.queue_default", header + "queue_default has more than 255 bytes");
    }
    if (fireworq.anonymous || !gateway_.tokens.empty()) return;
    warn("gateway.fireworq",
         header +
             "anonymous is false and no token is configured, so every request would be refused");
  }

  void check_token(GatewayToken& token) {
    const std::string section = "gateway.tokens." + token.name;
    const std::string header = "[" + section + "] ";
    std::string& hash = token.sha256;
    std::transform(hash.begin(), hash.end(), hash.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // The message omits the value, which may be the token itself.
    if (hash.size() != kHashDigits ||
        hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
      problem(section + ".sha256",
              header +
                  (hash.empty() ? "needs sha256, the hash of the token"
                                : "sha256 is not a hash of 64 hexadecimal digits") +
                  "; allot gateway token makes a token and its section");
    } else if (const auto [other, fresh] = hashes_.emplace(hash, token.name); !fresh) {
      problem(section + ".sha256",
              header + "has the same sha256 as [gateway.tokens." + other->second + "]");
    }
    check_roles(section, token);
    if (token.expires.empty()) return;
    token.expires_at = parse_time(token.expires);
    const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
    if (token.expires_at && *token.expires_at <= now) {
      warn(section + ".expires", header + "has expired at " + token.expires);
    }
  }

  void check_user(const GatewayUser& user) {
    const std::string section = "gateway.users." + user.name;
    if (user.name.empty() || user.name.size() > kMostOfUser ||
        std::any_of(user.name.begin(), user.name.end(),
                    [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      problem(section,
              "[gateway.users]: the name of a user has 1 to 255 bytes and no control "
              "characters");
    }
    check_roles(section, user);
  }

  template <typename Roles>
  void check_roles(const std::string& section, const Roles& in) {
    const std::string header = "[" + section + "] ";
    for (const auto& [role, queues] :
         {std::pair{"read", &in.read}, {"submit", &in.submit}, {"operate", &in.operate}}) {
      for (const std::string& queue : *queues) {
        const bool all = queue == "*" && queues->size() == 1;
        if (all || (queue.size() <= kMaxQueueName && is_word(queue, "_.-"))) continue;
        problem(section + "." + role,
                header + role + ": '" + queue +
                    "' is not a queue; write [\"mail\", \"reports\"], or [\"*\"] for all");
      }
    }
    if (!in.read.empty() || !in.submit.empty() || !in.operate.empty()) return;
    problem(section,
            header + "has no role; give it read, submit or operate, such as read = [\"*\"]");
  }

  void warn_unused() {
    const bool named = !gateway_.user_header.empty();
    if (!named && !gateway_.users.empty()) {
      warn("gateway.users." + gateway_.users.front().name,
           "[gateway.users.NAME] is not used without user_header");
    }
    if (!gateway_.tokens.empty() || named) return;
    if (!gateway_.listen.empty()) {
      warn("gateway.listen",
           "[gateway] listen: no token is configured, so every request over TCP would be refused");
    } else if (gateway_.grant == "none") {
      warn("gateway.grant",
           "[gateway] grant is none and no token is configured, so every request would be refused");
    }
  }

  Gateway& gateway_;
  std::map<std::string, std::string> hashes_;  // hash and name of the token
};

}  // namespace

void check_gateway(Settings& settings, Problems& problems) {
  if (settings.gateway) GatewayChecker(settings, problems).run();
}

}  // namespace allot::config

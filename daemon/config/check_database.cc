// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "config/check.h"
#include "config/networks.h"
#include "config/rows.h"

namespace allot::config {
namespace {

constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un::sun_path without its final 0

// Shorter than the supervisor's time limit for a database check, minus the second in which all
// servers of a list are asked first.
constexpr milliseconds kMostConnecting = seconds(25);

class DatabaseChecker : Section {
 public:
  DatabaseChecker(Settings& settings, Database& database, const std::string& section,
                  Problems& problems)
      : Section(settings, problems, section), database_(database) {}

  void run() {
    if (database_.embedded.empty()) {
      check_servers();
      check_password();
      check_tls();
    } else {
      use_embedded();
    }
    check_socket();
    check_required();
  }

 private:
  void use_embedded() {
    for (const char* key : {"host", "port", "hosts", "socket", "user", "password", "password_file",
                            "name", "required", "tls", "tls_ca", "tls_cert", "tls_key"}) {
      if (has(key)) warn(key, std::string(key) + " is not used: the database is embedded");
    }
    database_.socket = database_.embedded + "/data/sock";
    database_.user = "root";
    database_.password.clear();
    database_.password_file.clear();
    database_.password_credential.clear();
    database_.name = Database().name;
    database_.tls = Database().tls;
    database_.required.clear();
    for (const char* key : {"socket", "user", "name"}) {
      settings_.origins[path(key)] = "the embedded database";
    }
  }

  void check_required() {
    if (database_.required.empty() || database_.required == "replicated") return;
    problem("required", "required is '" + database_.required + "' (\"replicated\", or nothing)");
  }

  void check_servers() {
    const auto port = static_cast<std::uint16_t>(database_.port);
    if (database_.hosts.empty()) return add_server("host", database_.host, port);
    if (has("host")) return problem("hosts", "has both host and hosts; remove one");
    for (const std::string& text : database_.hosts) add_server("hosts", text, port);
    if (database_.hosts.size() > 1 && database_.connect_timeout > kMostConnecting) {
      problem("connect_timeout", "connect_timeout is " + text_of(database_.connect_timeout) +
                                     "; with several hosts the limit is " +
                                     text_of(kMostConnecting));
    }
  }

  void add_server(const std::string& key, const std::string& text, std::uint16_t port) {
    if (auto server = parse_server(text, port)) {
      return database_.servers.push_back(std::move(*server));
    }
    problem(key,
            "'" + text + "' is not a server; write \"HOST\", \"HOST:PORT\" or \"[ADDRESS]:PORT\"");
  }

  void check_socket() {
    if (database_.socket.size() <= kMaxSocketPath) return;
    const bool embedded = !database_.embedded.empty();
    plain_problem(embedded ? "embedded" : "socket",
                  "the path of the socket " + database_.socket + " has " +
                      std::to_string(database_.socket.size()) + " bytes; a Unix socket takes 107" +
                      (embedded ? ", so choose a shorter folder" : ""));
  }

  void check_password() {
    const char* last = nullptr;
    for (const auto& [key, value] : {std::pair{"password", &database_.password},
                                     {"password_file", &database_.password_file},
                                     {"password_credential", &database_.password_credential}}) {
      if (value->empty()) continue;
      if (last != nullptr) {
        return problem(key, std::string("has both ") + last + " and " + key + "; remove one");
      }
      last = key;
    }
    if (!database_.password.empty()) warn_if_shared("password", "password", settings_.file);
    if (!database_.password_credential.empty()) return read_credential();
    const std::string& file = database_.password_file;
    if (!file.empty()) {
      read_password("password_file", "password file " + file, file, database_.password);
    }
  }

  void read_credential() {
    const std::string key = "password_credential";
    const std::string& name = database_.password_credential;
    if (name.find('/') != std::string::npos) {
      return problem(key, "password_credential is a name, not a path");
    }
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder == nullptr) {
      return problem(key,
                     "password_credential: $CREDENTIALS_DIRECTORY is not set; only what systemd "
                     "started with LoadCredential=" +
                         name + ":FILE has it, everything else needs password_file");
    }
    read_password(key, "credential " + name, std::string(folder) + "/" + name, database_.password);
  }

  void check_tls() {
    if (database_.tls != "off" && !database_.socket.empty()) {
      warn("tls", "tls is not used: the server is reached through its socket");
      database_.tls = Database().tls;
      settings_.origins[path("tls")] = "the socket";
      return;
    }
    if (database_.tls != "verify" && !database_.tls_ca.empty()) {
      problem("tls_ca", "tls_ca is used with tls = \"verify\" only");
    }
    if (database_.tls == "off" && !database_.tls_cert.empty()) {
      problem("tls_cert", "tls_cert is not used while tls is off");
    }
    check_readable("tls_ca", database_.tls_ca);
    check_certificate(database_.tls_cert, database_.tls_key);
  }

  Database& database_;
};

}  // namespace

void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems) {
  DatabaseChecker(settings, database, section, problems).run();
}

}  // namespace allot::config

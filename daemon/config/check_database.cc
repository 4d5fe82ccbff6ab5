// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "config/check.h"
#include "config/rows.h"
#include "config/secret_file.h"
#include "config/servers.h"

namespace allot::config {
namespace {

constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un::sun_path without its final 0

// Shorter than the supervisor's time limit for a database check, minus the second in which all
// servers of a list are asked first.
constexpr milliseconds kMostConnecting = seconds(25);

class DatabaseChecker : Check {
 public:
  DatabaseChecker(Settings& settings, Database& database, std::string section, Problems& problems)
      : Check(settings, problems),
        database_(database),
        section_(std::move(section)),
        header_("[" + section_ + "] ") {}

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
  [[nodiscard]] std::string path(const std::string& key) const { return section_ + "." + key; }
  [[nodiscard]] bool says(const std::string& key) const { return has(path(key)); }
  // Keys missing in the section come from [database], where they were checked.
  [[nodiscard]] bool inherited(const std::string& key) const {
    return !says(key) && section_ != "database";
  }
  void problem(const std::string& key, std::string text) {
    if (!inherited(key)) Check::problem(path(key), std::move(text));
  }
  void warn(const std::string& key, const std::string& text) {
    if (!inherited(key)) Check::warn(path(key), text);
  }

  void use_embedded() {
    for (const char* key : {"host", "port", "hosts", "socket", "user", "password", "password_file",
                            "name", "required", "tls", "tls_ca", "tls_cert", "tls_key"}) {
      if (says(key)) warn(key, header_ + key + " is not used: the database is embedded");
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
    problem("required",
            header_ + "required is '" + database_.required + "' (\"replicated\", or nothing)");
  }

  void check_servers() {
    const auto port = static_cast<std::uint16_t>(database_.port);
    if (database_.hosts.empty()) return add_server("host", database_.host, port);
    if (says("host")) {
      return problem("hosts", header_ + "has both host and hosts; remove one");
    }
    for (const std::string& text : database_.hosts) add_server("hosts", text, port);
    if (database_.hosts.size() > 1 && database_.connect_timeout > kMostConnecting) {
      problem("connect_timeout",
              header_ + "connect_timeout is " + text_of(database_.connect_timeout) +
                  "; with several hosts the limit is " + text_of(kMostConnecting));
    }
  }

  void add_server(const std::string& key, const std::string& text, std::uint16_t port) {
    if (auto server = parse_server(text, port)) {
      return database_.servers.push_back(std::move(*server));
    }
    problem(key, header_ + "'" + text +
                     "' is not a server; write \"HOST\", \"HOST:PORT\" or \"[ADDRESS]:PORT\"");
  }

  void check_socket() {
    if (database_.socket.size() <= kMaxSocketPath) return;
    const bool embedded = !database_.embedded.empty();
    problem(embedded ? "embedded" : "socket",
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
        return problem(key, header_ + "has both " + last + " and " + key + "; remove one");
      }
      last = key;
    }
    if (!database_.password.empty()) {
      warn_if_shared("password", "password", settings_.file);
    }
    if (!database_.password_credential.empty()) return read_credential();
    if (database_.password_file.empty()) return;
    read_password("password_file", "password file " + database_.password_file,
                  database_.password_file);
    warn_if_shared("password_file", "password", database_.password_file);
  }

  void read_credential() {
    const std::string key = "password_credential";
    const std::string& name = database_.password_credential;
    if (name.find('/') != std::string::npos) {
      return problem(key, header_ + "password_credential is a name, not a path");
    }
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder == nullptr) {
      return problem(key, header_ +
                              "password_credential: $CREDENTIALS_DIRECTORY is not set; only what "
                              "systemd started with LoadCredential=" +
                              name + ":FILE has it, everything else needs password_file");
    }
    const std::string file = std::string(folder) + "/" + name;
    read_password(key, "credential " + name, file);
    warn_if_shared(key, "password", file);
  }

  void read_password(const std::string& key, const std::string& what, const std::string& file) {
    const int error = config::read_password(settings_, file, database_.password);
    if (error != 0) problem(key, "cannot read the " + what + ": " + std::strerror(error));
  }

  void check_tls() {
    if (database_.tls != "off" && !database_.socket.empty()) {
      warn("tls", header_ + "tls is not used: the server is reached through its socket");
      database_.tls = Database().tls;
      settings_.origins[path("tls")] = "the socket";
      return;
    }
    if (database_.tls != "verify" && !database_.tls_ca.empty()) {
      problem("tls_ca", header_ + "tls_ca is used with tls = \"verify\" only");
    }
    if (database_.tls == "off" && !database_.tls_cert.empty()) {
      problem("tls_cert", header_ + "tls_cert is not used while tls is off");
    }
    if (database_.tls_cert.empty() != database_.tls_key.empty()) {
      problem(database_.tls_key.empty() ? "tls_cert" : "tls_key",
              header_ + "tls_cert and tls_key need each other");
    }
    check_readable("tls_ca", database_.tls_ca);
    check_readable("tls_cert", database_.tls_cert);
    check_readable("tls_key", database_.tls_key);
    warn_if_shared("tls_key", "private key", database_.tls_key);
  }

  // For each of these files the connector reports only a generic TLS failure.
  void check_readable(const std::string& key, const std::string& file) {
    if (file.empty() || ::access(file.c_str(), R_OK) == 0) return;
    problem(key, header_ + key + ": cannot read " + file + ": " + std::strerror(errno));
  }

  void warn_if_shared(const std::string& key, const std::string& what, const std::string& file) {
    if (file.empty()) return;
    const std::string text = shared_secret(what, file);
    if (!text.empty()) warn(key, text);
  }

  Database& database_;
  std::string section_;
  std::string header_;
};

}  // namespace

int read_password(Settings& settings, const std::string& file, std::string& password) {
  const int error = settings.files.read(file, password);
  if (error != 0 || !password.ends_with('\n')) return error;
  password.pop_back();
  if (password.ends_with('\r')) password.pop_back();
  return 0;
}

void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems) {
  DatabaseChecker(settings, database, section, problems).run();
}

}  // namespace allot::config

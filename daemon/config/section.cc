// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "config/check.h"
#include "config/rows.h"

namespace allot::config {

Section::Section(Settings& settings, Problems& problems, std::string name)
    : settings_(settings),
      problems_(problems),
      name_(std::move(name)),
      header_("[" + name_ + "] ") {}

std::string Section::path(const std::string& key) const {
  return key.empty() ? name_ : name_ + "." + key;
}

bool Section::has(const std::string& key) const {
  return settings_.lines.contains(path(key));
}

bool Section::inherited(const std::string& key) const {
  return name_ == "gateway.database" && !has(key);
}

void Section::problem(const std::string& key, const std::string& text) const {
  plain_problem(key, header_ + text);
}

void Section::warn(const std::string& key, const std::string& text) const {
  plain_warning(key, header_ + text);
}

void Section::plain_problem(const std::string& key, const std::string& text) const {
  if (!inherited(key)) problems_.push_back({line_of(settings_, path(key)), text});
}

void Section::plain_warning(const std::string& key, const std::string& text) const {
  if (inherited(key)) return;
  settings_.warnings.push_back(settings_.file + ":" +
                               std::to_string(line_of(settings_, path(key))) + ": " + text);
}

void Section::read_password(const std::string& key, const std::string& what,
                            const std::string& file, std::string& password) const {
  const int error = settings_.files.read(file, password);
  if (error != 0) plain_problem(key, "cannot read the " + what + ": " + std::strerror(error));
  if (error == 0 && password.ends_with('\n')) {
    password.pop_back();
    if (password.ends_with('\r')) password.pop_back();
  }
  warn_if_shared(key, "password", file);
}

void Section::check_readable(const std::string& key, const std::string& file) const {
  if (file.empty() || ::access(file.c_str(), R_OK) == 0) return;
  problem(key, key + ": cannot read " + file + ": " + std::strerror(errno));
}

void Section::check_certificate(const std::string& cert, const std::string& key) const {
  if (cert.empty() != key.empty()) {
    problem(key.empty() ? "tls_cert" : "tls_key", "tls_cert and tls_key need each other");
  }
  check_readable("tls_cert", cert);
  check_readable("tls_key", key);
  warn_if_shared("tls_key", "private key", key);
}

void Section::warn_if_shared(const std::string& key, const std::string& what,
                             const std::string& file) const {
  const std::string text = file.empty() ? "" : shared_secret(what, file);
  if (!text.empty()) plain_warning(key, text);
}

std::string shared_secret(const std::string& what, const std::string& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0 || (status.st_mode & 0007U) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
  return file + " holds a " + what + " and is open to every user of this host (mode " +
         mode.data() + "); run chmod o= " + file;
}

bool names_a_secret(std::string_view key) {
  const std::string name = lower(std::string(key));
  constexpr std::array<std::string_view, 6> kWords = {"password", "passwd",     "secret",
                                                      "token",    "credential", "key"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace allot::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Fills in computed values (default queue and pool, queues of pools, the account of the embedded
// database, the password from its file) and checks rules that involve several keys.
void complete(Settings& settings, Problems& problems);

// Checks and completes one section with the keys of [database]: servers, the password from its
// file, the account of the embedded database. complete() calls it for each such section; `section`
// is "database", or the name in the header.
void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems);

// Checks and completes [gateway] and its sections, if they exist; refuses settings that would admit
// unintended clients. complete() calls it when [database] is complete.
void check_gateway(Settings& settings, Problems& problems);

// A section at its check, such as "pools.mail". Texts about a key follow the section's header;
// "" stands for the section itself.
class Section {
 public:
  Section(Settings& settings, Problems& problems, std::string name);

  // Whether the file has this key.
  [[nodiscard]] bool has(const std::string& key) const;
  void problem(const std::string& key, const std::string& text) const;
  void warn(const std::string& key, const std::string& text) const;
  // Without the header.
  void plain_problem(const std::string& key, const std::string& text) const;
  void plain_warning(const std::string& key, const std::string& text) const;

  // Reads a password from its own file, `what`, without the line break at the end.
  void read_password(const std::string& key, const std::string& what, const std::string& file,
                     std::string& password) const;
  // The connector and the TLS library report only a generic failure for such a file. "": no file.
  void check_readable(const std::string& key, const std::string& file) const;
  // The certificate and its key, each of which needs the other.
  void check_certificate(const std::string& cert, const std::string& key) const;
  // Warns about a file, of which others could read `what`. "": no file.
  void warn_if_shared(const std::string& key, const std::string& what,
                      const std::string& file) const;

 protected:
  // As in Lines: "pools.mail.size".
  [[nodiscard]] std::string path(const std::string& key) const;

  Settings& settings_;
  Problems& problems_;

 private:
  // Keys missing in [gateway.database] come from [database], where they were checked.
  [[nodiscard]] bool inherited(const std::string& key) const;

  std::string name_;
  std::string header_;
};

// Warning about a file with a secret that users outside its account and group may read: the file,
// its mode and the command that fixes it. Empty: none. Every reader of a secret file calls this. A
// group may read it, because packages install such files as root:allot 0640.
[[nodiscard]] std::string shared_secret(const std::string& what, const std::string& file);

// Keys of a plugin are unknown here, so a key with the name of a secret counts as one.
[[nodiscard]] bool names_a_secret(std::string_view key);

}  // namespace allot::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace allot::scripted {

// Folder of one test, with its instructions and observations.
//   script   key=value lines; passed on by allotd as --config
//   events   one line for each action of a process
//   do.WHO   a command for a running process, which removes the file
class Folder {
 public:
  explicit Folder(const std::string& script_file);

  // Value of a key, read when this object was created.
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise = {}) const;
  [[nodiscard]] int number(const std::string& key, int otherwise) const;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Appends "text\n" in one write.
  void tell(const std::string& text) const;
  // The command for `who`; empty if there is none.
  [[nodiscard]] std::string take_command(const std::string& who) const;
  // Waits for the file that `key` names; returns at once if the key is not set.
  void pass_gate(const std::string& key) const;

 private:
  std::string folder_;
  std::map<std::string, std::string> values_;
};

}  // namespace allot::scripted

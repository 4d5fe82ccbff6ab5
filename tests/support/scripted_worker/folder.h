// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace allot::scripted {

// The folder of one test: what the test says, and what it is told.
//   script   key=value lines; it is what allotd hands on as --config
//   events   one line for each thing that a process did
//   do.WHO   a command for a running process, taken away by it
class Folder {
 public:
  explicit Folder(const std::string& script_file);

  // The value of a key, read when this object was made.
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise = {}) const;
  [[nodiscard]] int number(const std::string& key, int otherwise) const;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Appends "text\n" in one write.
  void tell(const std::string& text) const;
  // The command for `who`; empty when there is none.
  [[nodiscard]] std::string take_command(const std::string& who) const;
  // Returns when the file that `key` names is there, or at once when the key is not set.
  void pass_gate(const std::string& key) const;

 private:
  std::string folder_;
  std::map<std::string, std::string> values_;
};

}  // namespace allot::scripted

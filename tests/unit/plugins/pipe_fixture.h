// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <allot/testing.hpp>
#include <memory>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace allot {

// A handler of plugins/pipe for the type "t", with real programs.
class PipeTest : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  static inline const std::string kHelpers = ALLOT_SOURCE_DIR "/plugins/pipe/helpers";

  // Additional keys of [plugins.pipe.types.t].
  [[nodiscard]] test::Settings settings(const Words& command,
                                        const test::Settings& more = {}) const {
    test::Settings all = {{"types.t.environment.ALLOT_HELPERS", kHelpers},
                          {"types.t.environment.PYTHONPATH", kHelpers},
                          {"types.t.environment.PYTHONDONTWRITEBYTECODE", "1"},
                          {"types.t.environment.WORK", folder_.path()}};
    for (const std::string& word : command) all.emplace("types.t.command", word);
    for (const auto& [key, value] : more) all.emplace("types.t." + key, value);
    return all;
  }
  // The handler with this program, which stays until the test ends.
  test::Handler& begin(const Words& command, const test::Settings& more = {}) {
    handler_ = std::make_unique<test::Handler>("t", settings(command, more));
    return *handler_;
  }
  // With a Python script that implements the protocol by itself.
  test::Handler& begin_python(const std::string& script, const test::Settings& more = {}) {
    const std::string file =
        folder_.write("script.py",
                      "import base64, json, os, signal, sys, time\n"
                      "lines = os.fdopen(3, 'rb')\n"
                      "def say(**line): os.write(4, (json.dumps(line) + '\\n').encode())\n"
                      "def note(text): os.write(os.open(os.environ['WORK'] + '/notes', "
                      "os.O_WRONLY | os.O_APPEND | os.O_CREAT), (text + '\\n').encode())\n"
                      "def hello(): say(kind='hello', protocol=1)\n"
                      "def tasks():\n"
                      "  hello()\n"
                      "  for line in lines:\n"
                      "    task = json.loads(line)\n"
                      "    if task['kind'] == 'task': yield task\n"
                      "def success(task): say(kind='verdict', id=task['id'], verdict='success')\n" +
                          script);
    return begin({"/usr/bin/python3", file}, more);
  }
  [[nodiscard]] std::vector<std::string> notes() const {
    return support::read_lines(folder_ / "notes");
  }

  support::TempDir folder_;
  std::unique_ptr<test::Handler> handler_;
};

}  // namespace allot

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cli/context.h"

namespace CLI {
class App;
}

namespace allot::cli {

// To the word "task", which is there, and to others: the words of the commands with which operators
// look into queues and act on them. When one is chosen, `command` is set to what is to be done.
// Both outlive the parsing.
void add_operators(CLI::App& app, const Context& context, std::function<int()>& command);

}  // namespace allot::cli

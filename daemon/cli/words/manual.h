// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/words/word_tree.h"

// Manual pages of the programs, made when Allot is built. The page of the configuration file is
// made by config/document.h.
namespace allot::cli {

// allot(1) has every command with its options; allot-ndjson(5) the fields of a line of allot submit
// --ndjson, described as the options of submit with the same names; the pages of the other
// programs, section 8, come from their --help: usage lines, options, and paragraphs that begin with
// a word and a colon.
//
// Writes all pages and the completions (completion.h) into `folder`, which contains PROGRAM.help
// for each of the other programs. Throws Error.
void write_manual(const CommandWord& words, const std::string& folder, const std::string& date);

}  // namespace allot::cli

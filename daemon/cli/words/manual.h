// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/words/word_tree.h"
#include "config/roff.h"

// Manual pages of the programs, made when Allot is built. The page of the configuration file is
// made by config/document.h.
namespace allot::cli {

// allot(1): every command with its options.
[[nodiscard]] std::string allot_manual(const CommandWord& words, const config::Edition& edition);

// allot-ndjson(5): the fields of a line of allot submit --ndjson. Their descriptions come from the
// options of submit with the same names.
[[nodiscard]] std::string ndjson_manual(const CommandWord& words,
                                        const std::vector<std::string>& fields,
                                        const config::Edition& edition);

// Manual page of another program, section 8, made from its --help: usage lines, options, and
// paragraphs that begin with a word and a colon. Throws Error for a program without a page.
[[nodiscard]] std::string program_manual(const std::string& program, const std::string& help,
                                         const std::string& exit_codes,
                                         const config::Edition& edition);

// Writes all pages and the completions (completion.h) into `folder`, which contains PROGRAM.help
// for each of the other programs. Throws Error.
void write_manual(const CommandWord& words, const std::string& folder, const std::string& date);

}  // namespace allot::cli

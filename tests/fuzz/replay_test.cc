// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: over its corpus, and over what a seeded generator makes of
// it. ALLOT_TEST_FUZZ_RUNS makes it long; ALLOT_TEST_FUZZ_SEED gives it another seed.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz.h"
#include "support/environment.h"
#include "support/temp_dir.h"

namespace allot::test {
namespace {

using Random = std::mt19937;

std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (const auto& each : std::filesystem::directory_iterator(ALLOT_FUZZ_CORPUS)) {
    files.push_back(each.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) texts.push_back(support::read_file(file));
  return texts;
}

std::size_t below(Random& random, std::size_t bound) {
  return bound == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

// Bytes that mean something to what is tested come more often than the others.
char odd_byte(Random& random) {
  using namespace std::string_view_literals;
  static constexpr std::string_view kOdd = "\r\n\0 \t:;,=%/?#*0123456789abcdefx\x7f\x80\xff"sv;
  return below(random, 4) == 0 ? static_cast<char>(below(random, 256))
                               : kOdd[below(random, kOdd.size())];
}

// A part of `text`, at most 40 bytes.
std::string piece_of(Random& random, const std::string& text) {
  return text.substr(below(random, text.size() + 1), below(random, 40));
}

void mutate(Random& random, const std::vector<std::string>& texts, std::string& text) {
  const std::size_t at = below(random, text.size() + 1);
  switch (below(random, 6)) {
    case 0:
      text.insert(at, 1, odd_byte(random));
      break;
    case 1:
      text.erase(at, 1 + below(random, 8));
      break;
    case 2:
      text.insert(at, piece_of(random, text));
      break;
    case 3:
      text.insert(at, piece_of(random, texts[below(random, texts.size())]));
      break;
    case 4:
      text += texts[below(random, texts.size())];
      break;
    default:
      if (at < text.size()) text[at] = odd_byte(random);
  }
}

// Current input of the target, for the message if it aborts.
std::string& current() {
  static std::string text;
  return text;
}

void tell(int /*signal*/) {
  constexpr std::string_view kSays = "the target aborted at this input:\n";
  static_cast<void>(write(STDERR_FILENO, kSays.data(), kSays.size()));
  static_cast<void>(write(STDERR_FILENO, current().data(), current().size()));
}

void run(const std::string& text) {
  signal(SIGABRT, tell);
  current() = text;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(Fuzz, TheCorpusIsTaken) {
  const auto texts = corpus();
  ASSERT_FALSE(texts.empty());
  run("");  // as libFuzzer does first
  for (const auto& text : texts) run(text);
}

TEST(Fuzz, MutatedCorpusIsAccepted) {
  const auto texts = corpus();
  const auto seed = support::environment_or("ALLOT_TEST_FUZZ_SEED", 19UL);
  const auto runs = support::environment_or("ALLOT_TEST_FUZZ_RUNS", 2'000UL);
  Random random(static_cast<Random::result_type>(seed));
  for (unsigned long count = 0; count < runs; ++count) {
    std::string text = texts[below(random, texts.size())];
    for (std::size_t left = 1 + below(random, 6); left > 0; --left) mutate(random, texts, text);
    run(text);
  }
}

}  // namespace
}  // namespace allot::test

// SPDX-License-Identifier: Apache-2.0
// Formats: CPython 3.8 to 3.14, Ruby 2.7 to 3.4, PHP 7.4 to 8.4, Node 18 to 24, OpenJDK 11 to 25,
// Go 1.18 to 1.25, Perl 5 with Carp, and libstdc++.
#include "worker/run/stack_trace.h"

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

namespace allot::worker {
namespace {

using Lines = std::vector<std::string_view>;
using Match = std::cmatch;

constexpr std::size_t kMostLine = 1000;   // std::regex needs stack for each byte
constexpr std::size_t kMostMessage = 20;  // lines of a message

struct Frame {
  std::string function;
  std::string file;
};

struct Trace {
  std::size_t line = 0;  // its first line
  std::string message;
  std::string exception;
  std::vector<Frame> frames;  // the innermost first
};
using Found = std::optional<Trace>;

// A pattern for lines. Most lines of an output lack the required word, which is cheaper to check
// than the expression.
struct Shape {
  Shape(const char* word, const char* regex) : needs(word), whole(regex) {}
  std::string_view needs;
  std::regex whole;
};

bool matches(std::string_view line, const Shape& shape, Match& match) {
  return line.size() <= kMostLine && line.find(shape.needs) != std::string_view::npos &&
         std::regex_match(line.data(), line.data() + line.size(), match, shape.whole);
}

bool matches(std::string_view line, const Shape& shape) {
  Match match;
  return matches(line, shape, match);
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

template <typename Fits>
std::optional<std::size_t> last_line(const Lines& lines, const Fits& fits) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (fits(lines[i])) return i;
  }
  return std::nullopt;
}

std::string joined(const std::string& exception, const std::string& text) {
  return text.empty() ? exception : exception + ": " + text;
}

// --- Python ---

// Prefix of each line of a trace: empty, or the bars of an exception group.
std::string bars_of(std::string_view line, std::size_t title) {
  std::string bars(line.substr(0, title));
  std::replace(bars.begin(), bars.end(), '+', '|');
  return bars;
}

Found python_from(const Lines& lines, std::size_t first, const std::string& bars) {
  static const Shape frame("File ", R"re( *File "(.+)", line \d+(?:, in (.+))?)re");
  Trace trace{first, {}, {}, {}};
  for (std::size_t i = first; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.starts_with(bars)) line.remove_prefix(bars.size());
    Match match;
    if (matches(line, frame, match)) {
      trace.frames.insert(trace.frames.begin(), Frame{match[2], match[1]});
    } else if (!line.empty() && line.front() != ' ') {
      if (trace.frames.empty()) return std::nullopt;
      trace.message = line;
      trace.exception = line.substr(0, line.find(':'));
      return trace;
    }
  }
  return std::nullopt;
}

Found python(const Lines& lines) {
  constexpr std::string_view kTitle = "Traceback (most recent call last):";
  const auto title = last_line(
      lines, [&](std::string_view line) { return line.find(kTitle) != std::string_view::npos; });
  if (title) {
    const std::string_view line = lines[*title];
    const std::size_t group = line.find("Exception Group ");
    return python_from(lines, *title + 1, bars_of(line, std::min(group, line.find(kTitle))));
  }
  // The compiler's complaint about the program itself has no title.
  static const Shape place("File ", R"re(  File "(.+)", line \d+)re");
  const auto at = last_line(lines, [](std::string_view line) { return matches(line, place); });
  return at ? python_from(lines, *at, "") : std::nullopt;
}

// --- Ruby ---

Found ruby(const Lines& lines) {
  static const Shape head(":in ", R"re((\S.*?):\d+:in [`'](.+)': (.*) \(([A-Z][\w:]*)\))re");
  static const Shape frame("from ", R"re(\s+from (.+?):\d+:in [`'](.+)')re");
  std::size_t end = lines.size();
  for (;;) {
    std::optional<std::size_t> at;
    for (std::size_t i = end; i-- > 0 && !at;) {
      if (matches(lines[i], head)) at = i;
    }
    if (!at) return std::nullopt;
    // A head right after a frame is the cause of the exception above it.
    end = *at;
    if (*at > 0 && matches(lines[*at - 1], frame)) continue;
    Match match;
    matches(lines[*at], head, match);
    Trace trace{*at, joined(match[4], match[3]), match[4], {{match[2], match[1]}}};
    for (std::size_t i = *at + 1; i < lines.size() && !matches(lines[i], head); ++i) {
      if (matches(lines[i], frame, match)) trace.frames.push_back({match[2], match[1]});
    }
    for (Frame& one : trace.frames) {  // "rescue in send_mail", "block (2 levels) in send_mail"
      const std::size_t in = one.function.rfind(" in ");
      if (in != std::string::npos) one.function.erase(0, in + 4);
    }
    return trace;
  }
}

// --- PHP ---

// The calls of a trace name their callers' files: the function of a call is the one in which the
// frame above it ran.
void php_frames(const Lines& lines, std::size_t first, std::string file, Trace& trace) {
  static const Shape call("#", R"re(#\d+ (?:(.+)\(\d+\)|\[internal function\]): (.+?)\(.*)re");
  Match match;
  std::size_t i = first;
  for (; i < lines.size() && matches(lines[i], call, match); ++i) {
    trace.frames.push_back({match[2], file});
    file = match[1];
  }
  trace.frames.push_back({"{main}", file});
}

Found php(const Lines& lines) {
  static const Shape fatal("error: ", R"re((?:PHP )?((?:Fatal|Parse|Compile) error): +(.*))re");
  static const Shape on_line(" on line ", R"re((.*) in (.+) on line \d+)re");
  static const Shape thrown("", R"re((?:Uncaught |Next )([\w\\]+)(?:: (.*)| (in .+:\d+))?)re");
  static const Shape place("in ", R"re((.*?) ?\bin (.+):\d+)re");
  const auto at = last_line(lines, [](std::string_view line) {
    return matches(line, fatal) || (line.starts_with("Next ") && matches(line, thrown));
  });
  if (!at) return std::nullopt;
  std::string_view head = lines[*at];
  Match match;
  std::string what = "Fatal error";
  if (matches(head, fatal, match)) {
    what = match[1];
    head.remove_prefix(static_cast<std::size_t>(match.position(2)));
  }
  Match error;
  if (!matches(head, thrown, error)) {
    if (!matches(head, on_line, match)) return std::nullopt;
    return Trace{*at, joined(what, match[1]), {}, {{"", match[2]}}};
  }
  Trace trace{*at, {}, error[1], {}};
  std::string text = error[2].matched ? error[2] : error[3];
  for (std::size_t i = *at; i < lines.size() && i < *at + kMostMessage; ++i) {
    if (matches(i == *at ? std::string_view(text) : lines[i], place, match)) {
      const std::string file = match[2];
      if (i == *at) text = std::string(match[1]);
      const bool has_calls = i + 1 < lines.size() && lines[i + 1] == "Stack trace:";
      php_frames(lines, has_calls ? i + 2 : lines.size(), file, trace);
      break;
    }
  }
  trace.message = joined(trace.exception, text);
  return trace;
}

// --- Node and Java ---

// "    at JSON.parse (<anonymous>)" is a frame without a file.
bool has_at(std::string_view line) {
  const std::size_t word = std::min(line.find_first_not_of(" \t"), line.size());
  return word > 0 && line.substr(word).starts_with("at ");
}

// Both print the exception, the lines of its message, and one frame per line after "at".
Found with_at(const Lines& lines, const Shape& head, const Shape& frame) {
  const auto last = last_line(lines, [&](std::string_view line) { return matches(line, frame); });
  if (!last) return std::nullopt;
  const auto inside = [&](std::string_view line) {
    return matches(line, frame) || line.starts_with(" ") || line.starts_with("\t") ||
           line.starts_with("Caused by: ");
  };
  std::size_t first = *last;
  while (first > 0 && inside(lines[first - 1])) --first;
  if (first == 0) return std::nullopt;
  Trace trace{first - 1, std::string(lines[first - 1]), {}, {}};
  Match match;
  for (std::size_t i = first; i-- > 0 && i + kMostMessage > first;) {
    if (!matches(lines[i], head, match)) continue;
    trace.exception = match[1];
    trace.message = joined(match[1], match[2]);
    break;
  }
  for (std::size_t i = first; i < lines.size() && has_at(lines[i]); ++i) {
    if (matches(lines[i], frame, match)) trace.frames.push_back({match[1], match[2]});
  }
  return trace;
}

Found node(const Lines& lines) {
  static const Shape head(
      "",
      R"re((?:Uncaught )?((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception|Rejection)|[A-Za-z_$][\w$.]*(?= \[\w*Error\]))(?: \[\w+\])?(?:: (.*))?)re");
  static const Shape frame(
      "at ",
      R"re(\s+at (?:async )?(?:(.+?) \()?((?:file://|node:|/|[A-Z]:\\)[^()]*):\d+:\d+\)?(?: \{)?)re");
  return with_at(lines, head, frame);
}

Found java(const Lines& lines) {
  static const Shape head(
      "", R"re((?:Exception in thread ".*" )?((?:[\w$]+\.)*[A-Z][\w$]*)(?:: (.*))?)re");
  static const Shape frame("at ", R"re(\s+at (?:\S+/)?([\w.$<>]+)\(([^():]+)(?::\d+)?\))re");
  return with_at(lines, head, frame);
}

// --- Go ---

Found go(const Lines& lines) {
  static const Shape head(": ", R"re((?:panic|fatal error): .*)re");
  static const Shape place("\t", R"re(\t(.+):\d+(?: \+0x[0-9a-f]+)?)re");
  const auto at = last_line(lines, [](std::string_view line) { return matches(line, head); });
  if (!at) return std::nullopt;
  std::size_t i = *at + 1;
  while (i < lines.size() && !lines[i].starts_with("goroutine ")) ++i;
  if (i == lines.size()) return std::nullopt;
  Trace trace{*at, std::string(lines[*at]), {}, {}};
  Match match;
  for (++i; i + 1 < lines.size() && matches(lines[i + 1], place, match); i += 2) {
    const std::string_view call = lines[i];
    trace.frames.push_back({std::string(call.substr(0, call.rfind('('))), match[1]});
  }
  return trace;
}

// --- Perl and C++ ---

Found perl(const Lines& lines) {
  static const Shape died(" line ",
                          R"re(\S.* at (\S+) line \d+(?:, <\w*> (?:line|chunk) \d+)?\.)re");
  static const Shape call(" called at ", R"re(\t(.+?)\(.*\) called at (.+) line \d+)re");
  const auto at = last_line(lines, [](std::string_view line) { return matches(line, died); });
  if (!at) return std::nullopt;
  Match match;
  matches(lines[*at], died, match);
  std::string file = match[1];
  Trace trace{*at, std::string(lines[*at]), {}, {}};
  for (std::size_t i = *at + 1; i < lines.size() && lines[i].starts_with("\t"); ++i) {
    if (!matches(lines[i], call, match)) continue;  // "eval {...} called at mail.pl line 3"
    trace.frames.push_back({match[1], file});
    file = match[2];
  }
  trace.frames.push_back({"", file});
  return trace;
}

Found cpp(const Lines& lines) {
  static const Shape head("terminate called ",
                          R"re(terminate called after throwing an instance of '(.+)')re");
  constexpr std::string_view kWhat = "  what():  ";
  const auto at = last_line(lines, [](std::string_view line) { return matches(line, head); });
  if (!at) return std::nullopt;
  Match match;
  matches(lines[*at], head, match);
  const std::string_view next = *at + 1 < lines.size() ? lines[*at + 1] : std::string_view();
  const std::string text(next.starts_with(kWhat) ? next.substr(kWhat.size()) : std::string_view());
  return Trace{*at, joined(match[1], text), match[1], {}};
}

// --- The program's own code ---

bool is_library(const Frame& frame) {
  // Not all of /usr/lib and /usr/share: packaged applications are there, too.
  constexpr std::array kFiles = {"/site-packages/",
                                 "/dist-packages/",
                                 "/lib/python3",
                                 "<frozen ",
                                 "/gems/",
                                 "/lib/ruby/",
                                 "-linux-gnu/ruby/",
                                 "/usr/share/rubygems",
                                 "<internal:",
                                 "/vendor/",
                                 "/usr/share/php/",
                                 "node:",
                                 "/node_modules/",
                                 "/usr/share/nodejs/",
                                 "/perl5/",
                                 "/usr/share/perl/",
                                 "-linux-gnu/perl",
                                 "/pkg/mod/",
                                 "/usr/local/go/src/",
                                 "/usr/lib/go-",
                                 "/usr/share/go-",
                                 "allot_pipe.py",
                                 "allot_pipe.php",
                                 "allot_pipe.rb",
                                 "allot_pipe.js",
                                 "AllotPipe.pm"};
  constexpr std::array kFunctions = {"java.",    "javax.",  "jdk.",  "sun.",
                                     "com.sun.", "kotlin.", "scala."};
  return frame.file.empty() ||
         std::any_of(
             kFiles.begin(), kFiles.end(),
             [&](const char* part) { return frame.file.find(part) != std::string::npos; }) ||
         std::any_of(kFunctions.begin(), kFunctions.end(),
                     [&](const char* part) { return frame.function.starts_with(part); });
}

// A number, a date or a revision; or a name with a version in it, such as shop-2.3.
bool names_a_release(std::string_view folder) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t dot = 1; dot + 1 < folder.size(); ++dot) {
    if (folder[dot] == '.' && is_digit(folder[dot - 1]) && is_digit(folder[dot + 1])) return true;
  }
  return std::any_of(folder.begin(), folder.end(), is_digit) &&
         folder.find_first_not_of("0123456789abcdef-_.TZ:") == std::string_view::npos;
}

// The file without parts that may differ between two deployments.
std::string stable(std::string_view file) {
  const std::size_t name = file.rfind('/');
  if (name == std::string_view::npos) return std::string(file);
  const std::string_view above = file.substr(0, name);
  const std::string_view folder = above.substr(above.rfind('/') + 1);
  if (folder.empty()) return std::string(file.substr(name + 1));
  return std::string(names_a_release(folder) ? "#" : folder) + std::string(file.substr(name));
}

// PHP 8.4 names closures by their place: "{closure:/srv/shop/mail.php:12}".
std::string stable_function(const std::string& function) {
  constexpr std::string_view kClosure = "{closure";
  const std::size_t at = function.find(kClosure);
  if (at == std::string::npos) return function;
  return function.substr(0, at + kClosure.size()) + "}";
}

StackTrace summary(const Trace& trace) {
  StackTrace found{trace.message, trace.exception, {}, {}};
  const auto own = std::find_if_not(trace.frames.begin(), trace.frames.end(), is_library);
  if (own == trace.frames.end()) return found;
  found.function = stable_function(own->function);
  found.file = stable(own->file);
  return found;
}

}  // namespace

std::optional<StackTrace> last_stack_trace(std::string_view output) {
  const Lines lines = lines_of(output);
  Found last;
  for (const auto read : {perl, cpp, python, ruby, php, java, node, go}) {
    Found found = read(lines);
    if (found && (!last || found->line >= last->line)) last = std::move(found);
  }
  if (!last) return std::nullopt;
  return summary(*last);
}

}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
#include "worker/run/stack_trace.h"

#include <gtest/gtest.h>

namespace allot::worker {
namespace {

struct Case {
  const char* name;
  const char* output;
  StackTrace expected;
};

// Unchanged output of the programs.
const Case kCases[] = {
    {"PythonChained",
     R"(starting
Traceback (most recent call last):
  File "/srv/shop/mail.py", line 4, in send
    json.loads("{")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^
json.decoder.JSONDecodeError: Expecting property name: line 1 column 2 (char 1)

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/shop/mail.py", line 8, in <module>
    send(42)
  File "/srv/shop/mail.py", line 6, in send
    raise LookupError("no such user %d\nsecond line" % x) from e
LookupError: no such user 42
second line
)",
     {"LookupError: no such user 42", "LookupError", "send", "shop/mail.py"}},
    {"PythonInALibrary",
     R"(Traceback (most recent call last):
  File "/srv/shop/load.py", line 3, in <module>
    load()
  File "/srv/shop/load.py", line 2, in load
    json.loads("{")
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value
)",
     {"json.decoder.JSONDecodeError: Expecting value", "json.decoder.JSONDecodeError", "load",
      "shop/load.py"}},
    {"PythonGroup",
     R"(  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/g.py", line 3, in <module>
  |     f()
  |   File "/srv/shop/g.py", line 2, in f
  |     raise ExceptionGroup("many", [ValueError(1), KeyError("x")])
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +------------------------------------
)",
     {"ExceptionGroup: many (2 sub-exceptions)", "ExceptionGroup", "f", "shop/g.py"}},
    {"PythonSyntax",
     R"(  File "/srv/shop/s.py", line 1
    def x(:
          ^
SyntaxError: invalid syntax
)",
     {"SyntaxError: invalid syntax", "SyntaxError", "", "shop/s.py"}},
    {"RubyWithACause",
     R"(mail.rb:4:in `rescue in send_mail': no such user 42 (Missing)
	from mail.rb:1:in `send_mail'
	from mail.rb:7:in `<main>'
mail.rb:2:in `Integer': invalid value for Integer(): "z" (ArgumentError)
	from mail.rb:2:in `send_mail'
	from mail.rb:7:in `<main>'
)",
     {"Missing: no such user 42", "Missing", "send_mail", "mail.rb"}},
    {"RubyInALibrary",
     R"(/usr/lib/ruby/3.1.0/json/common.rb:216:in `parse': 859: unexpected token (JSON::ParserError)
	from /usr/lib/ruby/3.1.0/json/common.rb:216:in `parse'
	from /srv/shop/load.rb:2:in 'Object#load_it'
	from /srv/shop/load.rb:3:in '<main>'
)",
     {"JSON::ParserError: 859: unexpected token", "JSON::ParserError", "Object#load_it",
      "shop/load.rb"}},
    {"Php",
     R"(PHP Fatal error:  Uncaught InvalidArgumentException: no such user 42 in /srv/shop/mail.php:2
Stack trace:
#0 /srv/shop/mail.php(3): Mail::send()
#1 /srv/shop/mail.php(4): main()
#2 {main}
  thrown in /srv/shop/mail.php on line 2
)",
     {"InvalidArgumentException: no such user 42", "InvalidArgumentException", "Mail::send",
      "shop/mail.php"}},
    {"PhpInALibraryWithAPrevious",
     R"(PHP Fatal error:  Uncaught Exception: inner in /srv/shop/mail.php:2
Stack trace:
#0 /srv/shop/mail.php(3): main()
#1 {main}

Next PDOException: outer
line two in /srv/shop/vendor/db/Db.php:7
Stack trace:
#0 [internal function]: Db->query('a')
#1 /srv/shop/mail.php(3): array_map(Object(Closure), Array)
#2 /srv/shop/run.php(9): Mail->send()
#3 {main}
  thrown in /srv/shop/vendor/db/Db.php on line 7
)",
     {"PDOException: outer", "PDOException", "Mail->send", "shop/mail.php"}},
    {"PhpInAClosure",
     R"(PHP Fatal error:  Uncaught RuntimeException: no in /srv/shop/mail.php:12
Stack trace:
#0 /srv/shop/run.php(7): {closure:/srv/shop/mail.php:12}('a')
#1 {main}
  thrown in /srv/shop/mail.php on line 12
)",
     {"RuntimeException: no", "RuntimeException", "{closure}", "shop/mail.php"}},
    {"PhpInAClosureOfAMethod",
     R"(PHP Fatal error:  Uncaught RuntimeException: no in /srv/shop/mail.php:12
Stack trace:
#0 /srv/shop/run.php(7): App\{closure:App\Mail::send():12}('a')
#1 {main}
  thrown in /srv/shop/mail.php on line 12
)",
     {"RuntimeException: no", "RuntimeException", "App\\{closure}", "shop/mail.php"}},
    {"PhpOutOfMemory",
     "PHP Fatal error:  Allowed memory size of 4194304 bytes exhausted (tried to allocate 2097152 "
     "bytes) in /srv/shop/mem.php on line 3\n",
     {"Fatal error: Allowed memory size of 4194304 bytes exhausted (tried to allocate 2097152 "
      "bytes)",
      "", "", "shop/mem.php"}},
    {"Node",
     R"(/srv/shop/mail.js:1
function send(x) { throw new TypeError("no such user " + x); }
                   ^

TypeError: no such user 42
    at send (/srv/shop/mail.js:1:26)
    at Object.<anonymous> (/srv/shop/mail.js:2:1)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)

Node.js v20.20.2
)",
     {"TypeError: no such user 42", "TypeError", "send", "shop/mail.js"}},
    {"NodeWithACause",
     R"(Error: a
b
    at openSync (node:fs:573:18)
    at Mail.send (/srv/shop/mail.js:1:48)
    at async /srv/shop/mail.js:2:16 {
  [cause]: Error: inner
      at Mail.send (/srv/shop/mail.js:1:74)
}
)",
     {"Error: a", "Error", "Mail.send", "shop/mail.js"}},
    {"NodeOfItself",
     R"(UnhandledPromiseRejection: the reason "just a text".
    at throwUnhandledRejectionsMode (node:internal/process/promises:389:7)
    at process.processTicksAndRejections (node:internal/process/task_queues:96:32) {
  code: 'ERR_UNHANDLED_REJECTION'
}
)",
     {"UnhandledPromiseRejection: the reason \"just a text\".", "UnhandledPromiseRejection", "",
      ""}},
    {"Java",
     R"(Exception in thread "main" java.lang.IllegalStateException: no such user 42
	at java.base/java.util.Objects.check(Objects.java:12)
	at com.shop.Mail.send(Mail.java:2)
	at com.shop.Mail.lambda$main$0(Mail.java:3)
Caused by: java.lang.NumberFormatException: For input string: "z"
	at java.base/java.lang.Integer.parseInt(Integer.java:668)
	at com.shop.Mail.send(Mail.java:2)
	... 1 more
)",
     {"java.lang.IllegalStateException: no such user 42", "java.lang.IllegalStateException",
      "com.shop.Mail.send", "Mail.java"}},
    {"Go",
     R"(panic: strings: negative Repeat count

goroutine 1 [running]:
strings.Repeat({0x491c90?, 0x521528?}, 0xf572c6ec1e0?)
	/usr/local/go/src/strings/strings.go:628 +0x56f
main.(*T).Do(...)
	/srv/shop/mail.go:4
main.main()
	/srv/shop/mail.go:5 +0x26
exit status 2
)",
     {"panic: strings: negative Repeat count", "", "main.(*T).Do", "shop/mail.go"}},
    {"PerlWithCarp",
     R"(careful at /srv/shop/mail.pl line 4.
no such user 42 at /srv/shop/mail.pl line 2, <STDIN> line 1.
	main::send(42) called at /srv/shop/mail.pl line 3
	main::run() called at /srv/shop/mail.pl line 5
)",
     {"no such user 42 at /srv/shop/mail.pl line 2, <STDIN> line 1.", "", "main::send",
      "shop/mail.pl"}},
    {"Perl",
     "no such user 42 at mail.pl line 1.\n",
     {"no such user 42 at mail.pl line 1.", "", "", "mail.pl"}},
    {"PerlInAnEval",
     R"(no user ada at /srv/shop/mail.pl line 2.
	eval {...} called at /srv/shop/mail.pl line 2
	main::send_mail("ada") called at /srv/shop/mail.pl line 4
	main::__ANON__(AllotPipe=HASH(0x561644b11e20)) called at /usr/share/allot/pipe/AllotPipe.pm line 65
)",
     {"no user ada at /srv/shop/mail.pl line 2.", "", "main::send_mail", "shop/mail.pl"}},
    {"NodeWithAClassOfItsOwn",
     R"(/srv/shop/mail.js:2
function send(who) { throw new NoUser(`no user ${who}`); }
                     ^

NoUser [Error]: no user ada
    at send (/srv/shop/mail.js:2:28)

Node.js v20.20.2
)",
     {"NoUser: no user ada", "NoUser", "send", "shop/mail.js"}},
    {"NodeInAFrameWithoutAFile",
     R"(SyntaxError: Unexpected end of JSON input
    at JSON.parse (<anonymous>)
    at send (/srv/shop/mail.js:2:28)
    at Array.map (<anonymous>)
    at handle (/srv/shop/mail.js:4:43)
)",
     {"SyntaxError: Unexpected end of JSON input", "SyntaxError", "send", "shop/mail.js"}},
    {"Cpp",
     R"(terminate called after throwing an instance of 'std::runtime_error'
  what():  no such user 42
)",
     {"std::runtime_error: no such user 42", "std::runtime_error", "", ""}},
};

class StackTraceTest : public testing::TestWithParam<Case> {};

TEST_P(StackTraceTest, SaysWhatFailedAndWhere) {
  const Case& given = GetParam();
  const auto found = last_stack_trace(given.output);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->message, given.expected.message);
  EXPECT_EQ(found->exception, given.expected.exception);
  EXPECT_EQ(found->function, given.expected.function);
  EXPECT_EQ(found->file, given.expected.file);
}

// A program that caught one exception and died of another, in whatever language the first one was.
TEST_P(StackTraceTest, TheLastOneDecides) {
  const std::string earlier = "RuntimeError: first\n    at other (/srv/shop/other.js:1:2)\n\n";
  EXPECT_EQ(last_stack_trace(earlier + GetParam().output)->message, GetParam().expected.message);
}

INSTANTIATE_TEST_SUITE_P(Languages, StackTraceTest, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

TEST(StackTrace, AReleaseFolderIsNotPartOfThePlace) {
  const auto file_in = [](const std::string& folder) {
    return last_stack_trace("Error: x\n    at f (/srv/" + folder + "/mail.js:1:2)\n")->file;
  };
  for (const char* release : {"20261128101500", "20261128T101500Z", "2026-11-28_10.15", "a1b2c3d",
                              "17", "shop-2.3.1", "v2.3"}) {
    EXPECT_EQ(file_in(release), "#/mail.js") << release;
  }
  EXPECT_EQ(file_in("v1"), "v1/mail.js");
  EXPECT_EQ(file_in("abc"), "abc/mail.js");
}

TEST(StackTrace, APackagedApplicationIsNotALibrary) {
  const auto place_in = [](const std::string& file) {
    return last_stack_trace("Error: x\n    at f (" + file + ":1:2)\n    at main (/srv/m.js:1:2)\n")
        ->file;
  };
  for (const char* own : {"/usr/lib/shop/mail.js", "/usr/share/shop/mail.js",
                          "/usr/local/lib/shop/mail.js", "/opt/shop/mail.js"}) {
    EXPECT_EQ(place_in(own), "shop/mail.js") << own;
  }
  for (const char* library : {"/usr/share/nodejs/db/mail.js", "/usr/lib/node_modules/db/mail.js",
                              "/usr/lib/x86_64-linux-gnu/perl-base/mail.js"}) {
    EXPECT_EQ(place_in(library), "srv/m.js") << library;
  }
}

TEST(StackTrace, OtherOutputHasNone) {
  for (const char* text : {"", "\n\n", "no such user", "Traceback (most recent call last):",
                           "Traceback (most recent call last):\n  File \"x\", line 1, in f",
                           "panic: x", "    at f (/a.js:1:2)", "PHP Fatal error:  cut"}) {
    EXPECT_FALSE(last_stack_trace(text)) << text;
  }
}

// Bounded in time and stack, whatever a program prints.
TEST(StackTrace, LargeOutputIsRead) {
  EXPECT_FALSE(last_stack_trace(std::string(64 << 10, 'x')));
  EXPECT_FALSE(last_stack_trace(std::string(64 << 10, '\n')));
  std::string frames = "Error: deep\n";
  while (frames.size() < 60 << 10) frames += "    at f (/srv/shop/mail.js:1:2)\n";
  EXPECT_EQ(last_stack_trace(frames)->message, "Error: deep");
}

}  // namespace
}  // namespace allot::worker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/operate/route.h"

// One table of routes, and where they send what: the lookup in C++ and that of the procedures have
// to give the same answers (A10).
namespace allot::queue {

struct RouteRow {
  const char* from;  // nullptr: any queue
  const char* types;
  const char* to;
};
struct RouteCase {
  const char* queue;  // "": none is named
  const char* type;
  const char* taker;  // nullptr: none
};

// All of these are spread but "tenants".
inline const std::vector<const char*> kRouteQueues{"a",   "b",    "x",  "y",      "z",
                                                   "any", "none", "b2", "tenants"};
constexpr const char* kFairOne = "tenants";

inline const std::vector<RouteRow> kRouteRows{
    {"a", "mail.send", "x"},  {"a", "mail.*", "y"},       {"a", "mail.send.*", "z"},
    {"a", "*", "b"},          {nullptr, "mail.*", "any"}, {nullptr, "mail.send.now", "any"},
    {"b", "mail.send", "b2"}, {nullptr, "*", "none"},     {"b", "re_ort", "y"},
    {nullptr, "sms", "any"},  {"x", "mail.send", "y"},    {"any", "*", "z"},
};

inline const std::vector<RouteCase> kRouteCases{
    {"a", "mail.send", "x"},        // the type itself
    {"a", "mail.send.later", "z"},  // the longest beginning
    {"a", "mail.send.now", "any"},  // the type itself, though of any queue, before a beginning
    {"a", "mail.sen", "y"},         // of one beginning the queue's own before that of any
    {"a", "mail.", "y"},            // a beginning takes what is no longer
    {"a", "mail", "b"},             // and nothing that is shorter
    {"a", "Mail.send", "b"},        // capitals are other letters
    {"a", "sms", "any"},            // a type of any queue before any type of the queue
    {"a", "sms2", "b"},             //
    {"b", "mail.send", "b2"},       //
    {"b", "mail.other", "any"},     //
    {"b", "report", "b"},           // no character stands for others
    {"b", "re_ort", "y"},           //
    {"b", "other", "b"},            // any type of any queue is only for what names none
    {"x", "mail.send", "y"},        // though nothing comes there by the route of "a"
    {"y", "mail.send", "any"},      //
    {"any", "mail.send", "any"},    // a route to the queue itself keeps it there
    {"any", "other", "z"},          //
    {"", "mail.send", "any"},       // without a queue, routes of any
    {"", "sms", "any"},             //
    {"", "other", "none"},          // the default
    {"tenants", "mail.send",
     "tenants"}  // a route of any queue leaves alone what is placed otherwise
};

}  // namespace allot::queue

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queue/operate/route.h"

// A table of routes with expected results: the lookups in C++ and in the procedures must agree
// (A10).
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

// All of these are spread except "tenants".
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
    {"a", "mail.send.later", "z"},  // the longest prefix
    {"a", "mail.send.now", "any"},  // an exact type, even for any queue, before a prefix
    {"a", "mail.sen", "y"},         // the queue's own prefix before one of any queue
    {"a", "mail.", "y"},            // a prefix matches longer types
    {"a", "mail", "b"},             // but not shorter ones
    {"a", "Mail.send", "b"},        // case-sensitive
    {"a", "sms", "any"},            // an exact type for any queue before any type of the queue
    {"a", "sms2", "b"},             //
    {"b", "mail.send", "b2"},       //
    {"b", "mail.other", "any"},     //
    {"b", "report", "b"},           // no wildcard characters
    {"b", "re_ort", "y"},           //
    {"b", "other", "b"},            // any type of any queue: only for submissions without one
    {"x", "mail.send", "y"},        // even if the route of "a" leads nowhere there
    {"y", "mail.send", "any"},      //
    {"any", "mail.send", "any"},    // a route to the queue itself keeps it there
    {"any", "other", "z"},          //
    {"", "mail.send", "any"},       // without a queue, routes of any
    {"", "sms", "any"},             //
    {"", "other", "none"},          // the default
    {"tenants", "mail.send",
     "tenants"}  // a route of any queue ignores queues with another placement
};

}  // namespace allot::queue

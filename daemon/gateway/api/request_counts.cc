// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/request_counts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

namespace allot::gateway::api {
namespace {

constexpr std::array<std::string_view, meter::kStatusClasses> kClasses{"1xx", "2xx", "3xx", "4xx",
                                                                       "5xx"};
constexpr std::string_view kNone = "none";

// Reads are bounded, because another version of the gateway may have written the record.
std::string_view name_of(const meter::RouteCounts& counts) {
  return {counts.name, ::strnlen(counts.name, sizeof counts.name)};
}

// The entry of this route, which a gateway of another version may have created, or a free entry.
// The last entry is shared by all routes without one.
meter::RouteCounts& place_of(meter::RequestRecord& record, std::string_view name) {
  name = name.substr(0, meter::kRouteNameSize - 1);
  for (meter::RouteCounts& place : record.routes) {
    if (place.taken.load() == 0) {
      std::memset(place.name, 0, sizeof place.name);
      name.copy(place.name, name.size());
      place.taken.store(1);
      return place;
    }
    if (name_of(place) == name) return place;
  }
  return record.routes[meter::kRoutes - 1];
}

metrics::Page::Histogram times_of(const meter::RouteCounts& counts) {
  metrics::Page::Histogram histogram;
  for (const std::uint64_t us : meter::kRequestBucketsUs) {
    histogram.bounds.push_back(static_cast<double>(us) / 1e6);
  }
  for (const meter::Counter& bucket : counts.buckets) histogram.buckets.push_back(bucket.load());
  histogram.sum = static_cast<double>(counts.took_ns.load()) / 1e9;
  return histogram;
}

}  // namespace

RequestCounts::RequestCounts(meter::RequestRecord* record)
    : own_(record != nullptr ? nullptr : std::make_unique<meter::RequestRecord>()),
      record_(record != nullptr ? *record : *own_) {
  for (const Route& route : routes()) routes_.push_back(&place_of(record_, route.name));
  routes_.push_back(&place_of(record_, kNone));
}

meter::RouteCounts& RequestCounts::of(const Route* route) {
  const std::size_t at =
      route == nullptr ? routes_.size() - 1 : static_cast<std::size_t>(route - routes().data());
  return *routes_[at];
}

void RequestCounts::count(const Route* route, unsigned status) {
  const std::size_t which = std::clamp(status / 100, 1U, 5U) - 1;
  of(route).answers[which].fetch_add(1, std::memory_order_relaxed);
}

void RequestCounts::count(const Route* route, unsigned status, Nanos took) {
  count(route, status);
  meter::RouteCounts& to = of(route);
  const auto& bounds = meter::kRequestBucketsUs;
  const auto fits = [took](std::uint64_t most_us) { return took <= most_us * kMicro; };
  const auto bucket = std::find_if(bounds.begin(), bounds.end(), fits) - bounds.begin();
  to.took_ns.fetch_add(took, std::memory_order_relaxed);
  to.buckets[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
}

// Includes routes that this version does not know, so that no counter disappears.
void RequestCounts::add_to(metrics::Page& page) const {
  for (const meter::RouteCounts& from : record_.routes) {
    if (from.taken.load() == 0) break;
    for (std::size_t which = 0; which < kClasses.size(); ++which) {
      const std::uint64_t count = from.answers[which].load();
      if (count == 0) continue;
      page.add(metrics::Metric::kRequests, static_cast<double>(count),
               {name_of(from), kClasses[which]});
    }
    const auto histogram = times_of(from);
    const bool any = std::any_of(histogram.buckets.begin(), histogram.buckets.end(),
                                 [](std::uint64_t count) { return count != 0; });
    if (any) page.add(metrics::Metric::kRequestSeconds, histogram, {name_of(from)});
  }
}

}  // namespace allot::gateway::api

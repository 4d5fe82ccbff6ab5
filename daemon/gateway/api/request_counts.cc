// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/request_counts.h"

#include <algorithm>
#include <string_view>

namespace allot::gateway::api {
namespace {

constexpr std::array<std::string_view, 5> kClasses{"1xx", "2xx", "3xx", "4xx", "5xx"};

}  // namespace

RequestCounts::OfRoute& RequestCounts::of(const Route* route) {
  const std::size_t at =
      route == nullptr ? routes_.size() - 1 : static_cast<std::size_t>(route - routes().data());
  return routes_[at];
}

void RequestCounts::count(const Route* route, unsigned status) {
  const std::size_t which = std::clamp(status / 100, 1U, 5U) - 1;
  of(route).answers[which].fetch_add(1, std::memory_order_relaxed);
}

void RequestCounts::count(const Route* route, unsigned status, Nanos took) {
  count(route, status);
  OfRoute& to = of(route);
  const double seconds = static_cast<double>(took) / 1e9;
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  to.took_ns.fetch_add(took, std::memory_order_relaxed);
  to.buckets[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
}

void RequestCounts::add_to(metrics::Page& page) const {
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    const OfRoute& from = routes_[i];
    const std::string_view name = i < routes().size() ? routes()[i].name : "none";
    for (std::size_t which = 0; which < kClasses.size(); ++which) {
      const std::uint64_t count = from.answers[which].load();
      if (count == 0) continue;
      page.add(metrics::Metric::kRequests, static_cast<double>(count), {name, kClasses[which]});
    }
    metrics::Page::Histogram histogram;
    histogram.bounds.assign(kBounds.begin(), kBounds.end());
    for (const Counter& bucket : from.buckets) histogram.buckets.push_back(bucket.load());
    histogram.sum = static_cast<double>(from.took_ns.load()) / 1e9;
    const bool any = std::any_of(histogram.buckets.begin(), histogram.buckets.end(),
                                 [](std::uint64_t count) { return count != 0; });
    if (any) page.add(metrics::Metric::kRequestSeconds, histogram, {name});
  }
}

}  // namespace allot::gateway::api

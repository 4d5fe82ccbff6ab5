// SPDX-License-Identifier: Apache-2.0
#include "fault/host_file.h"

#include <sstream>

#include "fault/tags.h"

namespace allot::fault {
namespace {

void write(std::ostream& out, const Keys& keys) {
  for (const auto& [key, value] : keys) out << key << " = " << value << "\n";
}

}  // namespace

unsigned size_of(const PoolPlan& pool, unsigned version) {
  return pool.size + version % 2;
}

std::string host_file(const Draw& draw, unsigned host, unsigned version, const Place& place) {
  const HostPlan& plan = draw.hosts.at(host);
  std::ostringstream out;
  out << "[database]\n"
      << place.database_keys << "\n[daemon]\nruntime_dir = \"" << place.runtime_dir
      << "\"\ninstance = \"host" << host << "\"\nlease_ttl = \"" << plan.ttl.count()
      << "ms\"\nstop_timeout = \"5s\"\n";
  for (const QueuePlan& queue : draw.queues) {
    out << "[queues." << queue.name << "]\n";
    write(out, queue.keys);
    write(out, plan.queue_keys);
  }
  if (draw.schedule) out << "[queues." << kTicks << "]\npartitions = 2\n";
  for (const PoolPlan& pool : plan.pools) {
    out << "[pools." << pool.name << "]\nsize = " << size_of(pool, version) << "\n";
    write(out, pool.keys);
    if (pool.queues.empty()) continue;
    out << "queues = [";
    for (std::size_t i = 0; i < pool.queues.size(); ++i)
      out << (i == 0 ? "\"" : ", \"") << pool.queues[i] << "\"";
    out << "]\n";
  }
  out << "[types.\"swarm.timed\"]\ntask_timeout = \"1s\"\n[plugins]\nfolder = \"" << place.plugins
      << "\"\n[plugins.fault]\noutput = \"" << place.traces
      << "\"\n[logging]\nlevel = \"info\"\nformat = \"text\"\nfile = \"" << place.log_file
      << "\"\n";
  return out.str();
}

}  // namespace allot::fault

# SPDX-License-Identifier: Apache-2.0
# Executes the empty job that often, as adapters do but without a queue.
require_relative 'app/config/environment'

data = NothingJob.new.serialize
ARGV.first.to_i.times { ActiveJob::Base.execute(data) }

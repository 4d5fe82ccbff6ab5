# SPDX-License-Identifier: Apache-2.0
# Executes the empty job that often, as adapters do but without a queue.
require_relative 'app/config/environment'
require_relative 'timed'

data = NothingJob.new.serialize
timed { ARGV.first.to_i.times { ActiveJob::Base.execute(data) } }

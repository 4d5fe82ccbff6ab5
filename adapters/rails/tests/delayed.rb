# SPDX-License-Identifier: Apache-2.0
# A worker of delayed_job, which ends once its queue is empty.
require_relative 'app/config/environment'
require_relative 'timed'

timed { Delayed::Worker.new(quiet: true, exit_on_complete: true, sleep_delay: 0.1).start }

# SPDX-License-Identifier: Apache-2.0
# A worker of delayed_job, which ends once its queue is empty.
require_relative 'app/config/environment'
require_relative 'timed'

# A deadlock ends a worker of delayed_job; in production it would be started again.
def work
  Delayed::Worker.new(quiet: true, exit_on_complete: true, sleep_delay: 0.1).start
rescue ActiveRecord::Deadlocked
  retry
end

timed { work }

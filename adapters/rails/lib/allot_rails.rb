# SPDX-License-Identifier: Apache-2.0
# Active Job on Allot. The application enqueues with Allot's procedures on its own connection
# (Submitter); exe/allot-jobs, which allotd keeps, runs the jobs (Runner). docs/rails.md explains both.
require 'active_job'
require 'active_record'

module AllotRails
  # A failure around a job, not of the job itself: the task is tried again.
  Error = Class.new(StandardError)
  # allotd refused a call of this process, for example because the lease is lost.
  Refused = Class.new(Error)
  # The process of a job died in each of its attempts. Passed to after_discard.
  ProcessLost = Class.new(StandardError)

  class << self
    attr_writer :settings

    def settings = @settings ||= Settings.new({})

    # The task that this process runs, with `progress`, `heartbeat`, `log`, `stop_requested?` and
    # `stop_reason`; nil: this process runs no task.
    attr_accessor :current_task
  end
end

require 'allot_rails/settings'
require 'allot_rails/signature'
require 'allot_rails/task_type'
require 'allot_rails/submitter'
require 'allot_rails/railtie' if defined?(Rails::Railtie)

# Makes `config.active_job.queue_adapter = :allot` known.
ActiveSupport.on_load(:active_job) { require 'active_job/queue_adapters/allot_adapter' }

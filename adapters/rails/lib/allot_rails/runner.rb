# SPDX-License-Identifier: Apache-2.0
require 'allot_rails/entry'
require 'allot_rails/task'
require 'allot_rails/verdict'

module AllotRails
  # Takes one task after the other from allotd and lets Active Job execute it. The result of Active
  # Job is the verdict (README.md has the table). Used by Program.
  class Runner
    # Errors that are not the job's fault.
    AROUND_THE_JOB = %w[AllotRails::Refused AllotRails::Error ActiveRecord::ConnectionNotEstablished
                        ActiveRecord::ConnectionFailed Mysql2::Error::ConnectionError].freeze

    def initialize(pipe, restart_mark)
      @pipe = pipe
      @restart_mark = restart_mark
      @process = Process.pid
      @leaves = false
    end

    def run
      follow_notifications
      @pipe.hello
      while !@leaves && (line = @pipe.next_task)
        # S83: it runs with the new code, in the process that takes the place of this one.
        @leaves = @restart_mark.changed?
        verdict = @leaves ? Verdict.release('restart') : verdict_of(line)
        @pipe.tell('verdict', line['id'], **verdict, **(@leaves ? { last: true } : {}))
      end
    end

    private

    def verdict_of(line)
      json = AllotRails.settings.signature.verified(line['payload'].to_s)
      return Verdict.refuse("the payload is not signed with this application's secret_key_base") unless json

      data = JSON.parse(json)
      return Verdict.refuse('the payload is not a job of Active Job') unless data.is_a?(Hash) && data['job_class']

      execute(Task.new(@pipe, line, data))
    rescue JSON::ParserError => e
      Verdict.refuse("the payload is not JSON: #{Verdict.text(e.message)[0, 200]}")
    end

    def execute(task)
      AllotRails.current_task = task
      tagged(task.id) { Entry.execute(task.data) }
      leave_forked
      task.verdict || Verdict.success
    rescue Exception => e # rubocop:disable Lint/RescueException: a job that exits has a verdict, too
      leave_forked(e)
      task.verdict(e) || verdict_of_error(task, e)
    ensure
      AllotRails.current_task = nil
    end

    def verdict_of_error(task, error)
      @leaves = true if [SystemExit, SignalException, NoMemoryError].any? { |kind| error.is_a?(kind) }
      again = (@leaves || around_the_job?(error)) && task.lost + 1 < AllotRails.settings.crashes
      again ? Verdict.exception(error) : Verdict.fail(error)
    end

    def around_the_job?(error)
      while error
        return true if (error.class.ancestors.map(&:name) & AROUND_THE_JOB).any?

        error = error.cause
      end
      false
    end

    # A process that a job has forked has no say about the task.
    def leave_forked(error = nil)
      exit!(error.is_a?(SystemExit) ? error.status : 1) unless Process.pid == @process
    end

    def tagged(id, &block)
      logger = ActiveJob::Base.logger
      logger.respond_to?(:tagged) ? logger.tagged(id, &block) : block.call
    end

    # Errors that retry_on and discard_on handle are seen here only.
    def follow_notifications
      { 'enqueue_retry' => ->(task, error) { task.error = error },
        'retry_stopped' => ->(task, error) { task.log_handled('no further retry', error) },
        'discard' => ->(task, error) { task.log_handled('discarded', error) } }.each do |event, action|
        ActiveSupport::Notifications.subscribe("#{event}.active_job") do |*, payload|
          task = AllotRails.current_task
          action.call(task, payload[:error]) if task&.job?(payload[:job])
        end
      end
    end
  end
end

# SPDX-License-Identifier: Apache-2.0
require 'allot_rails/verdict'

module AllotRails
  # The task that this process runs, and what became of its job. Jobs may use `progress`, `heartbeat`,
  # `log`, `stop_requested?` and `stop_reason`; the rest is for Runner and the adapter.
  class Task
    # In the payload: how often Active Job has enqueued this job again. The attempts beyond that ended
    # without Active Job, for example because the process died.
    RETRIES = 'allot_retries'

    attr_reader :id, :attempt, :data, :stop_reason
    attr_accessor :error # that Active Job handled by a retry

    def initialize(pipe, line, data)
      @pipe = pipe
      @id, @attempt = line.values_at('id', 'attempt')
      @retries = data.delete(RETRIES).to_i
      @data = data.merge('provider_job_id' => @id)
      begin_again if @attempt == 1 && @retries.positive?
    end

    def heartbeat = @pipe.tell('heartbeat', @id)
    def progress(percent, word = '') = @pipe.tell('progress', @id, percent: percent.to_i, word: word.to_s)
    def log(text, level = 'info') = @pipe.tell('log', @id, level: level.to_s, text: Verdict.text(text))

    # True when the job should end soon; stop_reason is then cancelled, time_limit, lease_in_doubt or
    # worker_leaves.
    def stop_requested?
      @stop_reason ||= @pipe.stop_reason
      !@stop_reason.nil?
    end

    def job?(job) = @data['job_id'] == job.job_id

    def lost = @attempt - 1 - @retries

    # The job in hand once more: this task gets its changed data, and is retried. With another queue or
    # priority another task takes its place.
    def enqueue_again(job, at)
      @delay = at ? Submitter.delay(at) : '0ms'
      job.provider_job_id = @id
      moves?(job) ? replace(job, at) : checkpoint(job)
    end

    # nil: Active Job did not enqueue the job again.
    def verdict(raised = nil)
      return unless @again

      error = raised || @error
      return log_handled('moved to another queue or priority', error) if @again == :replaced
      return Verdict.release(@stop_reason) if @again == :released && error.nil?

      Verdict.retry_later(error, 'enqueued again by the job', @delay)
    end

    def log_handled(what, error)
      place = error&.backtrace && (::Rails.backtrace_cleaner.clean(error.backtrace).first || error.backtrace.first)
      log("#{what}: #{error.class} in #{place}: #{error.message}", 'warn') if error
      Verdict.success
    end

    private

    # A dead task that was retried by hand: its attempts begin again, so those that retry_on counts do too.
    def begin_again
      @retries = 0
      @data = @data.merge('executions' => 0, 'exception_executions' => {})
    end

    def moves?(job)
      return true if @data['queue_name'] != job.queue_name

      # A task with the same unique key in the same queue would not be created while this one has it.
      @data['priority'] != job.priority && !Submitter.task(job, nil).key?(:unique_key)
    end

    def checkpoint(job)
      # A job that is continued later, because its worker leaves, is charged no attempt.
      @again = stop_requested? ? :released : :retried
      retries = @retries + (@again == :retried ? 1 : 0)
      json = JSON.generate(job.serialize.merge(RETRIES => retries))
      call('checkpoint', payload: AllotRails.settings.signature.sign(json))
    end

    def replace(job, at)
      @again = :replaced
      call('replace_with', tasks: [Submitter.task(job, at)])
    end

    def call(kind, **fields)
      @pipe.call(kind, @id, **fields) { |reason| @stop_reason ||= reason }
    rescue Refused
      @again = nil
      raise
    end
  end
end

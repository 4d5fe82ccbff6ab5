# SPDX-License-Identifier: Apache-2.0
require 'json'

module AllotRails
  # Submits jobs with Allot's procedures on the application's own connection, so that a job commits, or
  # is rolled back, with the rows of the transaction that enqueues it. Used by the adapter.
  module Submitter
    MAX_TASKS = 1000      # of one allot_submit_many
    MAX_BYTES = 4 << 20   # of its argument; max_allowed_packet is at least this
    # How often a job is tried is the matter of Active Job (retry_on), and of Runner if its process dies.
    MAX_ATTEMPTS = 100_000

    class << self
      def submit(job, at)
        task = task(job, at)
        options = task.except(:queue, :type, :payload)
        job.provider_job_id = writing do |connection|
          values = [*task.values_at(:queue, :type, :payload), JSON.generate(options)].map { |value| connection.quote(value) }
          connection.execute("CALL #{procedure('allot_submit')}(#{values.join(', ')}, @allot_id, @allot_existed)")
          read(connection, '@allot_id')
        end
      end

      # All or none of them.
      def submit_all(jobs)
        ids = writing do |connection|
          lists = lists(jobs.map { |job| task(job, job.scheduled_at&.to_f) })
          next submit_list(connection, lists.first) if lists.size == 1

          connection.transaction { lists.flat_map { |list| submit_list(connection, list) } }
        end
        jobs.zip(ids) do |job, id|
          job.provider_job_id = id
          job.successfully_enqueued = true
        end
        jobs.size
      end

      # A task with the names of Allot's options.
      def task(job, at)
        settings = AllotRails.settings
        task = {
          queue: job.queue_name,
          type: TaskType.of(settings.application, job),
          # In ASCII, whatever the character set of the connection is.
          payload: settings.signature.sign(JSON.generate(job.serialize, ascii_only: true)),
          max_attempts: MAX_ATTEMPTS,
          prio: settings.priority_class(job.priority),
          delay: at && delay(at)
        }.compact
        job.respond_to?(:allot_options) ? task.merge(options_of(job)) : task
      end

      def delay(at) = "#{[((at - Time.now.to_f) * 1000).ceil, 0].max}ms"

      private

      # The task's time begins before a process that has to be started first; without the seconds for it,
      # the attempt that lets the framework record a failure could run out of time itself.
      def options_of(job)
        options = job.allot_options.symbolize_keys
        limit = options[:time_limit] or return options
        raise ArgumentError, "#{job.class}: time_limit of allot_options is seconds, such as 5.minutes" if limit.is_a?(String)

        options.merge(time_limit: "#{((limit + AllotRails.settings.start_seconds) * 1000).to_i}ms")
      end

      # Also amid a block that reads from a replica.
      def writing(&block)
        role = ActiveRecord.respond_to?(:writing_role) ? ActiveRecord.writing_role : ActiveRecord::Base.writing_role
        ActiveRecord::Base.connected_to(role: role) do
          AllotRails.settings.connection_class.connection_pool.with_connection(&block)
        end
      end

      # The query cache would give the id of another job.
      def read(connection, variable)
        connection.uncached { connection.select_value("SELECT #{variable}") } ||
          raise(Error, 'the connection was lost amid the submission of a job')
      end

      def submit_list(connection, list)
        connection.execute("CALL #{procedure('allot_submit_many')}(#{connection.quote(list)}, @allot_made)")
        JSON.parse(read(connection, '@allot_made')).map { |made| made['id'] }
      end

      # JSON arrays of at most MAX_TASKS tasks and about MAX_BYTES.
      def lists(tasks)
        bytes = count = 0
        parts = tasks.map { |task| JSON.generate(task) }.slice_when do |before, after|
          bytes += before.bytesize
          count += 1
          full = count == MAX_TASKS || bytes + after.bytesize > MAX_BYTES
          bytes = count = 0 if full
          full
        end
        parts.map { |part| "[#{part.join(',')}]" }
      end

      def procedure(name) = "`#{AllotRails.settings.database}`.#{name}"
    end
  end
end

# SPDX-License-Identifier: Apache-2.0
require 'allot_rails'

module ActiveJob
  module QueueAdapters
    # `config.active_job.queue_adapter = :allot`. Enqueues on the application's own connection, in the
    # transaction that is open there.
    class AllotAdapter < (const_defined?(:AbstractAdapter) ? AbstractAdapter : Object)
      # The job commits with the transaction, which is what waiting for the commit is for.
      def enqueue_after_transaction_commit? = false

      def enqueue(job) = enqueue_at(job, nil)

      def enqueue_at(job, timestamp)
        task = AllotRails.current_task
        task&.job?(job) ? task.enqueue_again(job, timestamp) : AllotRails::Submitter.submit(job, timestamp)
      end

      # Each job is marked, so all of them are enqueued or an error is raised.
      def enqueue_all(jobs) = jobs.empty? ? 0 : AllotRails::Submitter.submit_all(jobs)

      # Asked by jobs that can be continued: true, once the job in hand should end soon.
      def stopping? = AllotRails.current_task&.stop_requested? || false
    end
  end
end

# SPDX-License-Identifier: Apache-2.0
module AllotRails
  # Verdicts as lines of the pipe have them.
  module Verdict
    class << self
      def success = { verdict: 'success' }
      def release(reason) = { verdict: 'release', reason: reason }
      def refuse(reason) = { verdict: 'fail', reason: reason }
      def fail(error) = { verdict: 'fail', **why(error) }

      # Retried by the policy of the type.
      def exception(error) = { verdict: 'exception', **why(error) }

      # Retried after the delay.
      def retry_later(error, reason, delay)
        { verdict: 'retry', delay: delay, **(error ? why(error) : { reason: reason }) }
      end

      def text(any) = any.to_s.dup.force_encoding('UTF-8').scrub

      private

      def why(error)
        return { class: error.class.name, message: 'the job ended its process' } if error.is_a?(SystemExit)

        { class: error.class.to_s, message: text(error.message), trace: text(error.full_message(highlight: false, order: :top)) }
      end
    end
  end
end

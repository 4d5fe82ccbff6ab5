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

        { class: error.class.to_s, message: text(error.message), trace: text(trace(error)) }
      end

      # As Ruby prints it, but only with the lines of the application, if there are any: lines of the
      # framework are many, and the log of the application has them.
      def trace(error)
        lines = ::Rails.backtrace_cleaner.clean(error.backtrace || []).presence || error.backtrace || []
        head = "#{lines.first}: #{error.message} (#{error.class})"
        [head, *lines.drop(1).map { |line| "\tfrom #{line}" }, *(trace(error.cause) if error.cause)].join("\n")
      end
    end
  end
end

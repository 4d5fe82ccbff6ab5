# SPDX-License-Identifier: Apache-2.0
require 'digest'

module AllotRails
  # The type of a task: the application's name and the class of the job, as in `shop.Reports.DailyJob`.
  # The job of a mail has the mailer and its method: `shop.UserMailer.welcome`.
  module TaskType
    MAX_BYTES = 127
    HASH_BYTES = 8

    class << self
      def of(application, job)
        type_of(application, name_of(job))
      end

      def type_of(application, name)
        type = "#{application}.#{name.gsub('::', '.').gsub(/[^A-Za-z0-9._-]/, '_')}"
        return type if type.bytesize <= MAX_BYTES

        # The prefix says which program runs it, the tail is what people know it by, and the hash
        # keeps two long names apart.
        head = "#{application}.#{Digest::SHA256.hexdigest(name)[0, HASH_BYTES]}."
        head + type[(head.bytesize - MAX_BYTES)..]
      end

      private

      def name_of(job)
        mailer, method = job.arguments
        mail = defined?(ActionMailer::MailDeliveryJob) && job.is_a?(ActionMailer::MailDeliveryJob)
        mail && mailer.is_a?(String) && method ? "#{mailer}.#{method}" : job.class.name
      end
    end
  end
end

# SPDX-License-Identifier: Apache-2.0
module AllotRails
  # Where a job begins: `Entry.execute(data)` is ActiveJob::Base.execute with the checks of `deserialize`,
  # which run inside the callbacks of the framework (its reloader and executor).
  class Entry < ActiveJob::Base
    class << self
      # @param data the job as `serialize` made it
      def deserialize(data)
        check(data['job_class'])
        job = super
        give_up(job) if AllotRails.current_task.lost >= AllotRails.settings.crashes
        job
      end

      private

      def check(name)
        job_class = begin
          name.to_s.constantize
        rescue NameError => e
          raise Error, "unknown job class #{name.inspect}: #{e.message}"
        end
        job = job_class.is_a?(Class) && job_class < ActiveJob::Base
        raise Error, "#{name} is not a subclass of ActiveJob::Base" unless job
      end

      # S83: this attempt is for the framework alone, which learns that the job has failed.
      def give_up(job)
        error = ProcessLost.new("the process of the job died, #{AllotRails.current_task.lost} attempts were lost")
        if job.respond_to?(:run_after_discard_procs, true) # since Rails 7.1
          job.send(:deserialize_arguments_if_needed)
          job.send(:run_after_discard_procs, error)
        end
        raise error
      end
    end
  end
end

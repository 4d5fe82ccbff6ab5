# SPDX-License-Identifier: Apache-2.0
# Each job notes in the table `seen` what happened to it.
class ApplicationJob < ActiveJob::Base
  if respond_to?(:after_discard)
    after_discard { |job, error| job.note('discarded', "#{error.class}: #{error.message}") }
  end

  def note(what, detail = '', name = arguments.first)
    Seen.create!(job: name.to_s, what: what, detail: detail, executions: executions, task: provider_job_id.to_s, pid: Process.pid)
  end
end

# SPDX-License-Identifier: Apache-2.0
class OnceJob < NoteJob
  def perform(name, act = nil)
    super
    retry_job(priority: -1) if act == 'urgent' && executions < 2
  end

  def allot_options = { unique_key: arguments.first, unique_for: '0s' }
end

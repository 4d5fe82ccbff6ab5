# SPDX-License-Identifier: Apache-2.0
# The behaviour of the adapter, each in a case. Those of the README's table begin with its first column.
require_relative 'support'

# Enqueues the job and waits until its task is in that state: nil (it has ended) or dead.
def after(state, job)
  job.enqueue
  eventually("task #{job.provider_job_id} is #{state || 'at its end'}") { state(job.provider_job_id) == state }
  job.provider_job_id
end

def after_acts(state, *arguments) = after(state, ActsJob.new(*arguments))

test 'A job enqueued in a transaction runs once that commits' do
  job = nil
  ActiveRecord::Base.transaction do
    Order.create!(name: 'committed')
    job = NoteJob.perform_later('committed')
    equal('waiting', begin
      ActiveRecord::Base.connection.execute("CALL allot.allot_task('#{job.provider_job_id}', @state)")
      ActiveRecord::Base.connection.select_value('SELECT @state')
    end, 'the state inside')
    equal(nil, state(job.provider_job_id), 'the state outside')
  end
  ends(job.provider_job_id)
  equal(['ran@1'], seen('committed'), 'what ran')
  equal(job.provider_job_id, Seen.find_by(job: 'committed').task, 'the id that the job knows')
end

test 'A rolled back job does not exist' do
  job = nil
  ActiveRecord::Base.transaction do
    job = NoteJob.perform_later('rolled back')
    raise ActiveRecord::Rollback
  end
  equal(nil, state(job.provider_job_id), 'state')
  after(nil, NoteJob.new('after it'))
  equal([], seen('rolled back'), 'what ran')
end

test 'returns: the job is done' do
  after_acts(nil, 'returns', 'prints')
  equal(['ran@1'], seen('returns'), 'what ran')
end

run_cases

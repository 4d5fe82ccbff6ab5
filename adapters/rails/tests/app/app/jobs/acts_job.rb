# SPDX-License-Identifier: Apache-2.0
# Does what its second argument says, until its execution `till` (0: always).
class ActsJob < ApplicationJob
  NotYet = Class.new(StandardError)
  NotAny = Class.new(StandardError)
  Unwanted = Class.new(StandardError)
  Elsewhere = Class.new(StandardError)
  Urgent = Class.new(StandardError)

  retry_on NotYet, wait: 1.second, attempts: 3, jitter: 0
  retry_on(NotAny, wait: 0, attempts: 2) { |job, error| job.note('given up', error.message) }
  retry_on Elsewhere, wait: 0, queue: :other
  retry_on Urgent, wait: 0, priority: -1
  discard_on(Unwanted) { |job, error| job.note('unwanted', error.message) }
  rescue_from(IOError) { retry_job(wait: 0) }
  before_perform { throw :abort if arguments[1] == 'stops_before' }

  def perform(name, act, till = 0)
    note('ran')
    send(act) if till.zero? || executions < till
  end

  def allot_options = arguments[1] == 'sleeps' ? { time_limit: 1.second } : {}

  private

  def returns; end
  def throws = raise(NotYet, "no such order: #{arguments.first}")
  def gives_up = raise(NotAny, 'no chance')
  def unwanted = raise(Unwanted, 'not needed any more')
  def unhandled = raise(KeyError, "no such order: #{arguments.first}")
  def elsewhere = raise(Elsewhere, 'not here')
  def urgent = raise(Urgent, 'at once')
  def rescued = raise(IOError, 'closed stream')
  def exits = exit(3)
  def exits_at_once = exit!(3)
  def wrong_syntax = eval('1 +')
  def kills = Process.kill(:KILL, Process.pid)
  def kills_worker = Process.kill(:KILL, Process.ppid)
  def sleeps = sleep(60)
  def uses_up_memory = raise(NoMemoryError, 'failed to allocate memory')

  def prints
    puts "{\"kind\": \"verdict\"}\nprinted by #{arguments.first}"
    warn 'and an error'
  end

  def enqueues_itself_again
    self.arguments = ["#{arguments.first}, changed", 'returns']
    enqueue(wait: 1.second)
  end

  def loses_its_connection
    id = ActiveRecord::Base.connection.select_value('SELECT CONNECTION_ID()')
    ActiveRecord::Base.transaction do
      Order.count
      OtherRecord.connection.execute("KILL #{id}")
      Order.create!(name: 'lost')
    end
  end

  def leaves_a_child = Process.detach(spawn('/bin/sleep', '3'))

  def forks
    Process.detach(fork do
      IO.for_fd(3).autoclose = false
      sleep 3
    end)
    exit 7 unless fork # this one comes back to the runner with an exit
  end

  def shows_progress
    task = AllotRails.current_task
    task.progress(40, 'packing')
    task.heartbeat
    task.log('half of it', :warn)
    raise KeyError, 'the other half'
  end

  def works_until_stop
    AllotRails.current_task.heartbeat until queue_adapter.stopping? || sleep(0.02).nil?
    note('stop', AllotRails.current_task.stop_reason)
    enqueue if AllotRails.current_task.stop_reason == 'worker_leaves'
  end
end

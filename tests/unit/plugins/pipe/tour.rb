# SPDX-License-Identifier: Apache-2.0
# All features of the helper, selected by the payload's first word.
require "#{ENV['ALLOT_HELPERS']}/allot_pipe"

AllotPipe.run do |task|
  data = task.payload
  if data.encoding == Encoding::BINARY || data.bytesize > 1000
    task.checkpoint(data)
    next
  end
  word, rest = data.split(' ', 2)
  case word
  when 'fail' then next AllotPipe.fail("it is b\u00e4d")
  when 'retry' then next AllotPipe.retry_later('not yet', 1.5)
  when 'snooze' then next AllotPipe.snooze(2)
  when 'release' then next AllotPipe.release('not here')
  when 'throw' then raise ArgumentError, 'thrown'
  when 'print' then puts 'a stray line'
  when 'beat' then task.heartbeat
  when 'log' then task.log('logged', 'warn')
  when 'progress' then task.progress(40, "half b\u00e4d")
  when 'failing'
    begin
      raise ArgumentError, 'thrown'
    rescue ArgumentError => e
      next rest == 'fail' ? AllotPipe.fail(e) : AllotPipe.retry_later(e, 2)
    end
  when 'checkpoint' then task.checkpoint(rest)
  when 'submit' then task.log(task.submit('x.next', rest, delay: '5m', prio: 2))
  when 'replace' then task.replace_with('x.next', rest, queue: 'other')
  when 'refused'
    begin
      task.checkpoint('x')
    rescue AllotPipe::Refused => e
      next AllotPipe.fail(e.message[/^\w+/])
    end
  when 'facts'
    task.log([task.id, task.queue, task.type, task.attempt, task.max_attempts,
              task.traceparent, task.stop_requested].join(' '))
  when 'stop'
    sleep 0.005 until task.stop_requested
    next AllotPipe.retry_later("stopped: #{task.stop_reason}")
  when 'crash' then exit! 3
  when 'return' then { 'nothing' => nil, 'true' => true, 'false' => false, 'number' => 7 }[rest]
  end
end

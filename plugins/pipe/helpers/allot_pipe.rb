# SPDX-License-Identifier: Apache-2.0
# Runs tasks of Allot (docs/pipe-workers.md): AllotPipe.run { |task| ... }. The block returns any
# value, or a verdict: AllotPipe.fail('why'), retry_later('why', 30), snooze(30), release; delays
# are seconds. The reason of a failure or retry may be an exception. `next` ends a block early.
require 'json'

module AllotPipe
  Verdict = Struct.new(:fields)
  Refused = Class.new(StandardError) # error of a call that writes; its message begins with the code

  IN = IO.for_fd(3, 'rb')
  OUT = IO.for_fd(4, 'wb')

  class << self
    def verdict(word, reason, delay)
      fields = { verdict: word, **(reason.is_a?(Exception) ? error(reason) : { reason: text(reason) }) }
      fields[:delay] = "#{(delay * 1000).to_i}ms" if delay
      Verdict.new(fields)
    end

    def text(any) = any.to_s.dup.force_encoding('UTF-8').scrub
    def error(error) = { class: error.class.to_s, message: text(error.message),
                         trace: text(error.full_message(highlight: false)) }

    def success = verdict('success', '', nil)
    def retry_later(reason = '', delay = nil) = verdict('retry', reason, delay)
    def fail(reason = '') = verdict('fail', reason, nil)
    def snooze(delay, reason = '') = verdict('snooze', reason, delay)
    def release(reason = '') = verdict('release', reason, nil)

    def read = JSON.parse(IN.gets || exit) # no further task follows
    def write(fields) = OUT.write("#{JSON.generate(fields)}\n")

    def payload(data)
      text = data.to_s.dup.force_encoding('UTF-8')
      text.valid_encoding? ? { payload: text } : { payload_base64: [data].pack('m0') }
    end

    def run
      $stdout.sync = OUT.sync = IN.close_on_exec = OUT.close_on_exec = true
      write(kind: 'hello', protocol: 1)
      loop do
        line = read
        next unless line['kind'] == 'task' # a stop sent before the verdict arrived
        ended = begin
          yield Task.new(line)
        rescue StandardError => e
          Verdict.new({ verdict: 'exception', **error(e) })
        end
        write(kind: 'verdict', id: line['id'], **(ended.is_a?(Verdict) ? ended : success).fields)
      end
    end
  end

  # The payload is in UTF-8, or binary if it is not text. After a stop request, stop_reason is
  # cancelled, time_limit, lease_in_doubt or worker_leaves.
  Task = Struct.new(:line, :stop_reason) do
    %w[id queue type attempt max_attempts time_left_ms traceparent tracestate]
      .each { |n| define_method(n) { line[n] } }

    def payload = line['payload'] || line['payload_base64'].unpack1('m0')
    def heartbeat = AllotPipe.write(kind: 'heartbeat', id: id)
    def log(text, level = 'info') = AllotPipe.write(kind: 'log', id: id, level: level, text: text)
    def progress(percent, word = '') =
      AllotPipe.write(kind: 'progress', id: id, percent: percent.to_i, word: word)

    def stop_requested
      self.stop_reason ||= AllotPipe.read['reason'] if IO.select([IN], nil, nil, 0)
      !stop_reason.nil?
    end

    def checkpoint(data) = call('checkpoint', AllotPipe.payload(data))
    def submit(...) = call('submit', tasks(...))[0]
    def replace_with(...) = call('replace_with', tasks(...))

    def tasks(type, payload = '', **options)
      { tasks: [{ type: type, **AllotPipe.payload(payload), **options }] }
    end

    def call(kind, fields)
      AllotPipe.write(kind: kind, id: id, **fields)
      self.stop_reason = answer['reason'] while (answer = AllotPipe.read)['kind'] == 'stop'
      raise Refused, "#{answer['code']}: #{answer['reason']}" if answer['kind'] == 'refused'

      answer['ids']
    end
  end
end

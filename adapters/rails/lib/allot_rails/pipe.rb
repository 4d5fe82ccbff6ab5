# SPDX-License-Identifier: Apache-2.0
require 'io/wait'
require 'json'

module AllotRails
  # The lines between allotd and a program that stays: docs/pipe-workers.md. One for each process.
  class Pipe
    def initialize
      @in = IO.for_fd(3, 'rb')
      @out = IO.for_fd(4, 'wb')
      @out.sync = @in.close_on_exec = @out.close_on_exec = true
    rescue SystemCallError, ArgumentError
      abort 'allot-jobs is started by allotd, with descriptors 3 and 4: name it as the `command` of a program of ' \
            'the plugin pipe in allot.toml, and run allotd'
    end

    def hello = write(kind: 'hello', protocol: 1)

    # Waits for the next task; nil: none will come. A stop that crossed a verdict is left out.
    def next_task
      line = read
      line = read until line.nil? || line['kind'] == 'task'
      line
    end

    # A line that has no answer.
    def tell(kind, id, **fields) = write(kind: kind, id: id, **fields)

    # Waits for the answer. The block gets the reason of each stop that comes first.
    def call(kind, id, **fields)
      write(kind: kind, id: id, **fields)
      while (answer = read)
        next yield(answer['reason']) if answer['kind'] == 'stop'
        return answer if answer['kind'] == 'done'

        raise Refused, "#{kind} refused: #{answer['code']}: #{answer['reason']}"
      end
      raise Refused, "#{kind}: the worker of this task has ended"
    end

    # The reason of a stop that has come since the last line; nil: none has.
    def stop_reason
      line = read if @in.wait_readable(0)
      line && line['reason']
    end

    private

    def read
      line = @in.gets
      line && JSON.parse(line)
    end

    def write(fields)
      @out.write("#{JSON.generate(fields)}\n")
    rescue Errno::EPIPE
      exit!(1) # allotd reads no more
    end
  end
end

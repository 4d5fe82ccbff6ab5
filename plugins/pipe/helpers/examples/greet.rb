# SPDX-License-Identifier: Apache-2.0
# Greets the name in the payload.
require_relative '../allot_pipe'

AllotPipe.run do |task|
  next AllotPipe.fail('no name to greet') if task.payload.empty?

  puts "hello, #{task.payload}" # goes to the log
end

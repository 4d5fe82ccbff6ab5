# SPDX-License-Identifier: Apache-2.0
# Runs the block and prints its seconds and processor seconds, for speed.rb.
def timed
  clocks = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID]
  before = clocks.map { |clock| Process.clock_gettime(clock) }
  yield
  puts clocks.zip(before).map { |clock, began| Process.clock_gettime(clock) - began }.join(' ')
end

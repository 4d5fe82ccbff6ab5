# SPDX-License-Identifier: Apache-2.0
# Shared by the tests: the application in this process, the tables, waiting, and the count of what passed.
require 'fileutils'
require 'json'
require 'mysql2'
require 'open3'
require 'tmpdir'

def prepare
  root = Mysql2::Client.new(socket: ENV.fetch('APP_SOCKET'), username: 'root')
  File.read("#{__dir__}/schema.sql").split(";\n").each { |statement| root.query(statement) }
  require_relative 'app/config/environment'
end

# Waits until the block gives something that is true, which is returned.
def eventually(what, seconds = 300)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  until (result = yield)
    raise "not within #{seconds} s: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

    sleep 0.02
  end
  result
end

def equal(expected, actual, what)
  raise "#{what}: expected #{expected.inspect}, got #{actual.inspect}" unless expected == actual
end

def has(text, part, what = 'text') = text.include?(part) || raise("#{what} lacks '#{part}': #{text}")

# Notes of the jobs with this name, as "what@execution".
def seen(name) = Seen.where(job: name).order(:id).map { |row| "#{row.what}@#{row.executions}" }

# On a connection that is not in a transaction of a case.
def state(task)
  OtherRecord.connection.execute("CALL allot.allot_task(#{OtherRecord.connection.quote(task)}, @state)")
  OtherRecord.connection.uncached { OtherRecord.connection.select_value('SELECT @state') }
rescue ActiveRecord::Deadlocked # with the worker that ends the task
  'waiting'
end

def dies(task) = eventually("task #{task} is dead") { state(task) == 'dead' }
def ends(task) = eventually("task #{task} has ended") { state(task).nil? }

# A command of Allot, with its output.
def allot(*words)
  output, status = Open3.capture2e("#{ENV.fetch('APP_BUILD')}/bin/allot", *words)
  raise "allot #{words.join(' ')} ended with #{status.exitstatus}: #{output}" unless status.success?

  output
end

# The output of allot task show has each text.
def shows(task, *texts)
  shown = allot('task', 'show', task)
  texts.each { |text| has(shown, text, "allot task show #{task}") }
end

# The lines of the daemon's log with this text.
def log_of(text) = File.readlines("#{ENV.fetch('APP_WORK')}/log").grep(/#{Regexp.escape(text)}/).join

def gone?(pid)
  File.read("/proc/#{pid}/stat").match?(/\) Z /)
rescue Errno::ENOENT
  true
end

# Stops the daemon and its database in order, and runs the block with another one.
def restart_daemon
  Process.kill(:TERM, ENV.fetch('APP_ALLOTD').to_i)
  eventually('allotd has ended') { gone?(ENV.fetch('APP_ALLOTD')) }
  pid = spawn("#{ENV.fetch('APP_BUILD')}/bin/allotd", err: [ENV.fetch('APP_WORK') + '/log', 'a'])
  eventually('the database is back') do
    [ActiveRecord::Base, OtherRecord].each { |record| record.connection.reconnect! }
    OtherRecord.connection.select_value('SELECT 1')
  rescue ActiveRecord::ActiveRecordError, Mysql2::Error
    false
  end
  yield
ensure
  if pid
    Process.kill(:TERM, pid)
    Process.wait(pid)
  end
end

CASES = {}
def test(name, &block) = CASES[name] = block

$stdout.sync = true

# Runs the cases whose name contains the filter; ends the process.
def run_cases(filter = ARGV.first.to_s)
  prepare
  passed = failed = 0
  CASES.each do |name, block|
    next unless name.include?(filter)

    began = Time.now
    begin
      block.call
      passed += 1
      printf("ok      %5.1f s  %s\n", Time.now - began, name)
    rescue StandardError => e
      failed += 1
      printf("FAILED  %5.1f s  %s\n%s\n", Time.now - began, name, e.full_message(highlight: false))
    end
  end
  puts "Rails #{Rails.version}, Ruby #{RUBY_VERSION}: #{passed} passed, #{failed} failed"
  exit!(failed.zero? && passed.positive? ? 0 : 1)
end

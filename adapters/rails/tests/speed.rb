# SPDX-License-Identifier: Apache-2.0
# ALLOT_JOBS empty jobs (10,000) by Allot, by delayed_job on the same server, and called without a queue, with
# ALLOT_WORKERS processes each; the memory of the processes after a tenth of them and after all; how long after
# its enqueue a job starts. The figures are printed; what must hold is a case.
require_relative 'support'
require 'etc'

JOBS = ENV.fetch('ALLOT_JOBS', '10000').to_i
WORKERS = ENV.fetch('ALLOT_WORKERS', '2').to_i

# Processor seconds of a process and all below it, those that have ended and were waited for included.
def cpu_of(root)
  below = Hash.new { |hash, pid| hash[pid] = [] }
  ticks = Hash.new(0)
  Dir['/proc/[0-9]*/stat'].each do |file|
    pid, fields = File.read(file).match(/\A(\d+) \(.*\) (.*)\z/m).captures
    fields = fields.split
    below[fields[1].to_i] << pid.to_i
    ticks[pid.to_i] = fields[11, 4].sum(&:to_i)
  rescue SystemCallError
    nil
  end
  sum = ->(pid) { ticks[pid] + below[pid].sum(&sum) }
  sum.call(root).to_f / Etc.sysconf(Etc::SC_CLK_TCK)
end

# The largest resident memory of a process of this run that runs jobs, in KiB.
def memory
  Dir['/proc/[0-9]*/cmdline'].filter_map do |file|
    folder = File.dirname(file)
    next unless File.read(file).include?('allot-jobs') && File.read("#{folder}/environ").include?("APP_WORK=#{ENV.fetch('APP_WORK')}\0")

    File.read("#{folder}/status")[/VmRSS:\s+(\d+)/, 1].to_i
  rescue SystemCallError
    nil
  end.max.to_i
end

# Figures that only the administrator may see.
def root = @root ||= Mysql2::Client.new(socket: ENV.fetch('APP_SOCKET'), username: 'root')
def left = root.query('SELECT COUNT(*) AS n FROM allot.task').first['n']
def deadlocks = root.query("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").first['Value'].to_i

# Prints and returns jobs per second.
def figure(what, jobs, seconds, cpu, deadlocks)
  printf("%-28s %8.0f jobs/s  %6.2f ms of processor per job  %d deadlocks\n", what, jobs / seconds, 1000 * cpu / jobs, deadlocks)
  jobs / seconds
end

# Runs the block, which waits until Allot has done the jobs.
def measured(what, jobs)
  pids = [ENV.fetch('APP_ALLOTD').to_i, Process.pid]
  cpu = pids.sum { |pid| cpu_of(pid) }
  before = deadlocks
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  figure(what, jobs, took, pids.sum { |pid| cpu_of(pid) } - cpu, deadlocks - before)
end

# As many processes as there are workers. Each prints the seconds and processor seconds of its work, without
# its start.
def processes(what, jobs, script, *words, **environment)
  before = deadlocks
  outputs = Array.new(WORKERS) { IO.popen([environment.transform_keys(&:to_s), ENV.fetch('APP_RUBY'), "#{__dir__}/#{script}", *words]) }
  times = outputs.map { |output| output.read.lines.last.split.map(&:to_f) }
  outputs.each(&:close)
  figure(what, jobs, times.map(&:first).max, times.sum(&:last), deadlocks - before)
end

def enqueue_all(count)
  count.times.each_slice(500) { |part| AllotRails::Submitter.submit_all(part.map { NothingJob.new.extend(Marked) }) }
end

# Before Rails 7.1 jobs have no mark.
module Marked
  def successfully_enqueued=(_); end
end

test 'Memory after all jobs is at most 5 % above that after a tenth' do
  enqueue_all(JOBS / 10)
  eventually('the first tenth', 600) { left.zero? }
  before = memory
  enqueue_all(JOBS - JOBS / 10)
  eventually('all', 600) { left.zero? }
  puts "memory: #{before} KiB, then #{memory} KiB"
  equal(true, before.positive? && memory <= 1.05 * before, 'no more than 5 % growth')
end

test 'Allot without deadlocks, with delayed_job and the ceiling next to it' do
  puts "#{WORKERS} workers, #{JOBS} jobs"
  allot('queue', 'pause', 'default')
  enqueue_all(JOBS)
  before = deadlocks
  allot_speed = measured('Allot', JOBS) do
    allot('queue', 'resume', 'default')
    eventually('all', 600) { left.zero? }
  end
  equal(0, deadlocks - before, 'deadlocks')
  enqueue = 'require ARGV[0]; ARGV[1].to_i.times { NothingJob.new.enqueue }'
  system({ 'APP_QUEUE' => 'delayed_job' }, ENV.fetch('APP_RUBY'), '-e', enqueue, "#{__dir__}/app/config/environment.rb", JOBS.to_s, exception: true)
  delayed_speed = processes('delayed_job', JOBS, 'delayed.rb', APP_QUEUE: 'delayed_job')
  share = [JOBS / WORKERS, 1].max
  ceiling = processes('without a queue', share * WORKERS, 'ceiling.rb', share.to_s)
  printf("Allot: %.1f times delayed_job, %.0f %% of the ceiling\n", allot_speed / delayed_speed, 100 * allot_speed / ceiling)
end

test 'A job starts soon after its enqueue' do
  waited = Array.new(200) do |number|
    at = Time.now.to_f
    NoteJob.perform_later("start #{number}")
    eventually('it ran') { seen("start #{number}").any? }
    1000 * (Seen.where(job: "start #{number}").pick(Arel.sql('UNIX_TIMESTAMP(at)')).to_f - at)
  end.sort
  printf("start after enqueue: p50 %.1f ms, p99 %.1f ms\n", waited[100], waited[198])
end

run_cases

# SPDX-License-Identifier: Apache-2.0
# ALLOT_JOBS jobs (10,000), each enqueued in a transaction with a row of `orders`, every seventh rolled back,
# while workers, Ruby processes and the database server are killed. Exactly the jobs of the committed rows run.
# And deployments under load: no job is lost, and none starts with old code after a restart.
require_relative 'support'

# The children of a process whose command line contains that text.
def children(parent, text)
  Dir['/proc/[0-9]*/stat'].filter_map do |file|
    stat = File.read(file)
    pid, of = stat.match(/\A(\d+) \(.*\) \S (\d+) /m)&.captures&.map(&:to_i)
    pid if of == parent && File.read("/proc/#{pid}/cmdline").include?(text)
  rescue SystemCallError
    nil
  end
end

# Kills one process of the kind; false: there is none at the moment.
def kill_one(kind)
  workers = children(ENV.fetch('APP_ALLOTD').to_i, 'allot-worker')
  pids = case kind
         when :worker then workers
         when :ruby then workers.flat_map { |pid| children(pid, 'allot-jobs') }
         when :server then [File.read("#{ENV.fetch('APP_WORK')}/db/pid").to_i]
         end
  pid = pids.reject { |number| number <= 1 }.sample or return false
  Process.kill(:KILL, pid)
  true
rescue SystemCallError
  false
end

def wait_for_the_server
  eventually('the server is back', 120) do
    [ActiveRecord::Base, OtherRecord].each { |record| record.connection.reconnect! }
    OtherRecord.connection.select_value('SELECT 1')
  rescue ActiveRecord::ActiveRecordError, Mysql2::Error
    false
  end
end

def in_a_transaction(number)
  ActiveRecord::Base.transaction do
    Order.create!(name: "job #{number}")
    CountsJob.perform_later("job #{number}")
    raise ActiveRecord::Rollback if (number % 7).zero?
  end
rescue ActiveRecord::ActiveRecordError, AllotRails::Error # whether it was committed, `orders` says
  wait_for_the_server
end

JOBS = ENV.fetch('ALLOT_JOBS', '10000').to_i
COMMITTED = -> { Order.where('name LIKE ?', 'job %').count }
RAN = -> { Seen.where(what: 'ran').where('job LIKE ?', 'job %').distinct.count(:job) }

test 'Exactly the jobs that were committed run, whatever is killed' do
  killed = { worker: 0, ruby: 0, server: 0 }
  (1..JOBS).each do |number|
    in_a_transaction(number)
    next unless (number % 97).zero?

    kind = (number % 970).zero? ? :server : (number.odd? ? :worker : :ruby)
    killed[kind] += 1 if kill_one(kind)
  end
  wait_for_the_server
  eventually('all committed jobs ran', 600) { RAN.call >= COMMITTED.call }
  extra = Seen.connection.select_value("SELECT COUNT(DISTINCT job) FROM seen LEFT JOIN orders ON name = job WHERE name IS NULL AND job LIKE 'job %'")
  equal(0, extra, 'jobs that ran and were not committed')
  equal(COMMITTED.call, RAN.call, 'jobs that ran')
  puts "#{JOBS} jobs, #{COMMITTED.call} committed, #{Seen.where(what: 'ran').count} runs; killed: #{killed}"
  killed.each { |kind, times| equal(true, times.positive? || (kind == :server && JOBS < 970), "kills of #{kind}") }
end

# Jobs note the version that their process has loaded.
def deploy(version)
  File.write("#{ENV.fetch('APP_WORK')}/version", version.to_s)
  yield
  Seen.connection.select_value('SELECT NOW(6)')
end

test 'Deployments under load lose no job, and none starts with old code after a restart' do
  deploy(1) { FileUtils.touch("#{ENV.fetch('APP_WORK')}/restart.txt") }
  number = 0
  feed = Thread.new do
    until Thread.current[:enough]
      VersionJob.perform_later("version #{number += 1}")
      sleep 0.005
    end
  end
  since = (2..5).map do |version|
    sleep 2
    at = deploy(version) do
      version.even? ? FileUtils.touch("#{ENV.fetch('APP_WORK')}/restart.txt") : allot('reload', '--wait')
    end
    [version, at]
  end
  sleep 2
  feed[:enough] = true
  feed.join
  eventually('all jobs ran', 120) { Seen.where(what: 'version').distinct.count(:job) == number }
  since.each do |version, at|
    old = Seen.where(what: 'version').where('at > ? AND CAST(detail AS UNSIGNED) < ?', at, version).count
    equal(0, old, "jobs that started with code from before version #{version}")
  end
  puts "#{number} jobs, #{since.size} deployments"
end

run_cases

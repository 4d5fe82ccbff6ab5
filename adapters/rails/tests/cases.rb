# SPDX-License-Identifier: Apache-2.0
# The behaviour of the adapter, each in a case. Cases of the README's table begin with its first column.
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

test 'stopped by a before_perform callback: the job is done' do
  after_acts(nil, 'halted', 'stops_before')
  equal([], seen('halted'), 'what ran')
end

test 'throws, and retry_on takes it: it is retried after that wait, with class and place' do
  job = ActsJob.new('throws', 'throws', 2)
  after(nil, job)
  equal(%w[ran@1 ran@2], seen('throws'), 'what ran')
  at = Seen.where(job: 'throws').order(:id).pluck(:at)
  equal(true, at[1] - at[0] >= 1, 'the pause')
  has(log_of(job.provider_job_id), 'ActsJob::NotYet', 'the log')
end

test 'throws until retry_on has no attempt left: it is dead, with class and file' do
  task = after_acts('dead', 'throws always', 'throws')
  equal(%w[ran@1 ran@2 ran@3], seen('throws always').grep(/ran/), 'what ran')
  shows(task, 'ActsJob::NotYet: no such order: throws always', 'acts_job.rb', 'shop.ActsJob')
  has(allot('dead', 'groups', 'default'), 'ActsJob::NotYet in throws (jobs/acts_job.rb)', 'groups')
end

test 'throws until a retry_on with a block has no attempt left: it is done, and logged' do
  task = after_acts(nil, 'gives up', 'gives_up')
  equal(['ran@1', 'ran@2', 'given up@2'], seen('gives up').grep_v(/discarded/), 'what ran')
  has(log_of(task), 'no further retry: ActsJob::NotAny in app/jobs/acts_job.rb', 'the log')
end

test 'throws what discard_on takes: it is done, and logged' do
  task = after_acts(nil, 'unwanted', 'unwanted')
  equal(['ran@1', 'unwanted@1'], seen('unwanted').grep_v(/discarded/), 'what ran')
  has(log_of(task), 'discarded: ActsJob::Unwanted in app/jobs/acts_job.rb', 'the log')
end

test 'throws what nothing takes: it is dead at once' do
  task = after_acts('dead', 'unhandled', 'unhandled')
  equal(['ran@1'], seen('unhandled').grep(/ran/), 'what ran')
  shows(task, 'KeyError: no such order: unhandled', 'acts_job.rb')
  equal(['discarded@1'], seen('unhandled') - ['ran@1'], 'after_discard') if ActsJob.respond_to?(:after_discard)
end

test 'a syntax error: it is dead at once' do
  task = after_acts('dead', 'syntax', 'wrong_syntax')
  shows(task, 'SyntaxError')
end

test 'retry_job of a rescue_from: it is retried' do
  task = after_acts(nil, 'rescued', 'rescued', 3)
  equal(%w[ran@1 ran@2 ran@3], seen('rescued'), 'what ran')
  has(log_of(task), 'task.retry ', 'the log')
end

test 'it enqueues itself again while it runs: the same task with the changed arguments, after that wait' do
  task = after_acts(nil, 'again', 'enqueues_itself_again')
  equal(['ran@1'], seen('again'), 'what ran first')
  equal(['ran@2'], seen('again, changed'), 'what ran then')
  equal(task, Seen.find_by(job: 'again, changed').task, 'the task')
end

test 'retried with another queue: another task takes its place' do
  task = after_acts(nil, 'elsewhere', 'elsewhere', 2)
  eventually('the other one') { seen('elsewhere') == %w[ran@1 ran@2] }
  equal(false, Seen.where(job: 'elsewhere').last.task == task, 'the task')
  has(log_of(task), 'ActsJob::Elsewhere in app/jobs/acts_job.rb', 'the log')
end

test 'retried with another priority: another task takes its place' do
  after_acts(nil, 'urgent', 'urgent', 2)
  eventually('the other one') { seen('urgent') == %w[ran@1 ran@2] }
end

test 'a model is gone: it is dead' do
  order = Order.create!(name: 'gone')
  job = ShipJob.new('gone', order)
  ActiveRecord::Base.transaction do
    job.enqueue
    order.destroy
  end
  dies(job.provider_job_id)
  equal([], seen('gone').grep(/ran/), 'what ran')
  shows(job.provider_job_id, 'ActiveJob::DeserializationError')
end

test 'a model is gone, and discard_on takes it: it is done' do
  order = Order.create!(name: 'forgotten')
  job = ShipOrForgetJob.new('forgotten', order)
  ActiveRecord::Base.transaction do
    job.enqueue
    order.destroy
  end
  ends(job.provider_job_id)
  equal([], seen('forgotten').grep(/ran/), 'what ran')
end

test 'a model is there: the job gets it' do
  after(nil, ShipJob.new('shipped', Order.create!(name: 'shipped')))
  equal(['ran@1'], seen('shipped'), 'what ran')
end

test 'the connection to the database is lost: it is retried' do
  after_acts(nil, 'lost', 'loses_its_connection', 1)
  equal(['ran@1'], seen('lost'), 'what ran')
  job = ActsJob.perform_later('lost always', 'loses_its_connection')
  dies(job.provider_job_id)
  equal(['ran@1'] * 2, seen('lost always').grep(/ran/), 'what ran')
end

test 'exit: a failed attempt, and another process' do
  task = after_acts('dead', 'exits', 'exits')
  equal(['ran@1'] * 2, seen('exits').grep(/ran/), 'what ran')
  equal(2, Seen.where(job: 'exits', what: 'ran').distinct.count(:pid), 'processes')
  shows(task, 'SystemExit: the job ended its process')
end

test 'exit! and a crash: a failed attempt' do
  after_acts('dead', 'exits at once', 'exits_at_once')
  equal(['ran@1'] * 2, seen('exits at once').grep(/ran/), 'what ran')
end

test 'out of memory: a failed attempt with file and line, and another process' do
  task = after_acts('dead', 'memory', 'uses_up_memory')
  equal(2, Seen.where(job: 'memory', what: 'ran').distinct.count(:pid), 'processes')
  shows(task, 'NoMemoryError: failed to allocate memory')
  has(log_of(task), 'acts_job.rb', 'the log')
end

test 'the process is killed each time: after `crashes` of them it is dead, and after_discard was called' do
  task = after_acts('dead', 'killed', 'kills')
  equal(['ran@1'] * 2, seen('killed').grep(/ran/), 'what ran')
  shows(task, 'AllotRails::ProcessLost: the process of the job died, 2 attempts were lost')
  next unless ActsJob.respond_to?(:after_discard)

  has(Seen.find_by(job: 'killed', what: 'discarded').detail, 'AllotRails::ProcessLost', 'after_discard')
end

test 'the worker is killed: the job starts again' do
  after_acts('dead', 'kills the worker', 'kills_worker')
  equal(['ran@1'] * 2, seen('kills the worker').grep(/ran/), 'what ran')
end

test 'the time limit is over: the process is killed' do
  after_acts('dead', 'sleeps', 'sleeps')
  equal(['ran@1'] * 2, seen('sleeps').grep(/ran/), 'what ran')
end

test 'the application is restarted: the next job runs in another process' do
  after(nil, NoteJob.new('before the restart'))
  FileUtils.touch("#{ENV.fetch('APP_WORK')}/restart.txt")
  after(nil, NoteJob.new('after the restart'))
  after(nil, NoteJob.new('after the restart'))
  equal([], Seen.where(job: 'after the restart').pluck(:pid) & Seen.where(job: 'before the restart').pluck(:pid), 'processes')
  has(log_of('task.released'), 'restart', 'the log')
end

test 'a job that is retried by hand has all its attempts again' do
  task = after_acts('dead', 'by hand', 'throws')
  allot('dead', 'retry', task)
  eventually('it ran again') { seen('by hand').grep(/ran/).size == 6 && state(task) == 'dead' }
  equal(%w[ran@1 ran@2 ran@3], seen('by hand').grep(/ran/).last(3), 'its attempts')
end

test 'a later job waits' do
  job = NoteJob.set(wait: 2.seconds).perform_later('later')
  equal('waiting', state(job.provider_job_id), 'state')
  ends(job.provider_job_id)
  row = Seen.find_by(job: 'later')
  equal(true, row.at.to_f - Time.parse(job.enqueued_at.to_s).to_f >= 1, 'the pause') if job.enqueued_at
end

test 'a job of the past starts at once' do
  after(nil, NoteJob.new('past').tap { |job| job.scheduled_at = Rails.version < '7.1' ? 1.day.ago.to_f : 1.day.ago })
  equal(['ran@1'], seen('past'), 'what ran')
end

test 'perform_all_later is one statement, and marks each job' do
  next unless ActiveJob.respond_to?(:perform_all_later)

  statements = []
  count = ActiveSupport::Notifications.subscribe('sql.active_record') { |*, payload| statements << payload[:sql] if payload[:sql].include?('allot_submit') }
  jobs = [NoteJob.new('bulk'), NoteJob.new('bulk'), NoteJob.new('bulk').set(wait: 1.second)]
  ActiveJob.perform_all_later(jobs)
  equal(1, statements.size, 'statements')
  equal([true] * 3, jobs.map(&:successfully_enqueued?), 'marks')
  jobs.each { |job| ends(job.provider_job_id) }
  equal(['ran@1'] * 3, seen('bulk'), 'what ran')
  ActiveJob.perform_all_later(Array.new(1100) { NothingJob.new })
  equal(3, statements.size, 'statements of 1,100 jobs')
ensure
  ActiveSupport::Notifications.unsubscribe(count) if count
end

test 'A list with one bad job enqueues none' do
  next unless ActiveJob.respond_to?(:perform_all_later)

  jobs = [NoteJob.new('of a bad list'), NoteJob.new('of a bad list').set(queue: 'nowhere')]
  begin
    ActiveJob.perform_all_later(jobs)
    raise 'it was taken'
  rescue ActiveRecord::StatementInvalid => e
    has(e.message, "queue 'nowhere'")
  end
  equal([false, false], jobs.map { |job| !!job.successfully_enqueued? }, 'marks')
end

test 'The process is killed between commit and enqueue: nothing is lost, because there is nothing between' do
  late = ActiveJob::Base.respond_to?(:enqueue_after_transaction_commit)
  pid = fork do
    Order.after_commit { Process.kill(:KILL, Process.pid) }
    Order.transaction do
      Order.create!(name: 'in time')
      NoteJob.perform_later('in time')
      LateJob.perform_later('late') if late
    end
  ensure
    exit!
  end
  Process.wait(pid)
  equal(true, $?.signaled?, 'killed')
  eventually('the job ran') { seen('in time') == ['ran@1'] }
  equal([], seen('late'), 'the job that waits for the commit')
end

test 'A job that is enqueued amid a block that reads from a replica is written' do
  job = ActiveRecord::Base.connected_to(role: :reading) { NoteJob.perform_later('split') }
  ends(job.provider_job_id)
  equal(['ran@1'], seen('split'), 'what ran')
end

test 'The query cache does not give the id of another job' do
  ids = ActiveRecord::Base.cache { Array.new(3) { NoteJob.perform_later('cached').provider_job_id } }
  equal(3, ids.uniq.size, 'ids')
  ids.each { |id| ends(id) }
end

test 'A job with any character comes as it was, whatever the connection speaks' do
  ActiveRecord::Base.connection.execute('SET NAMES latin1')
  job = NoteJob.perform_later('any character', "caf\u00e9 \u{1f600} \u2028")
  ActiveRecord::Base.connection.execute('SET NAMES utf8mb4')
  ends(job.provider_job_id)
  equal(["caf\u00e9 \u{1f600} \u2028"], Seen.where(job: 'any character').pluck(:detail).map { |detail| detail.split('|', 2).last }, 'what it got')
end

test 'A unique key is taken once, and again after a rollback' do
  ActiveRecord::Base.transaction do
    OnceJob.perform_later('once')
    raise ActiveRecord::Rollback
  end
  ActiveRecord::Base.transaction { 2.times { OnceJob.perform_later('once') } }
  eventually('it ran') { seen('once') == ['ran@1'] }
  eventually('it ran again') do # the key is free once the job is acknowledged
    OnceJob.perform_later('once')
    seen('once').size > 1
  end
end

test 'retried with another priority, and it has a unique key: the same task' do
  task = after(nil, OnceJob.new('urgent once', 'urgent'))
  equal(%w[ran@1 ran@2], seen('urgent once'), 'what ran')
  equal([task], Seen.where(job: 'urgent once').distinct.pluck(:task), 'tasks')
end

test 'Priorities map to the four classes' do
  classes = { nil => nil, -100 => 0, -1 => 0, 0 => 1, 9 => 1, 10 => 2, 19 => 2, 20 => 3, 1_000_000 => 3 }
  classes.each { |priority, wanted| equal(wanted, AllotRails.settings.priority_class(priority), "class of #{priority.inspect}") }
  NoteJob.set(priority: -5).perform_later('prio').then { |job| ends(job.provider_job_id) }
end

test 'A job keeps its locale and time zone' do
  job = I18n.with_locale(:de) { Time.use_zone('Hawaii') { NoteJob.perform_later('abroad') } }
  ends(job.provider_job_id)
  equal('de Hawaii|', Seen.find_by(job: 'abroad').detail, 'what it saw')
end

test 'A mail has the type of its mailer, and is sent' do
  job = OrderMailer.shipped('mail').deliver_later
  equal('shop.OrderMailer.shipped', AllotRails::TaskType.of('shop', job), 'type')
  ends(job.provider_job_id)
  equal(['mailed@0'], seen('mail'), 'what ran')
end

test 'Types are names that Allot takes' do
  type = ->(name) { AllotRails::TaskType.type_of('shop', name) }
  equal('shop.Reports.DailyJob', type.call('Reports::DailyJob'), 'a class')
  equal('shop.B_roJob', type.call('BüroJob'), 'another alphabet')
  long = type.call("Jobs::#{'Very' * 40}LongJob")
  equal(AllotRails::TaskType::MAX_BYTES, long.bytesize, 'its length')
  equal(true, long.match?(/\Ashop\.[0-9a-f]{8}\..*VeryLongJob\z/), long)
  equal(false, long == type.call("Jobs::#{'Very' * 41}LongJob"), 'another one')
end

test 'A job shows its progress and logs' do
  task = after_acts('dead', 'progress', 'shows_progress')
  shows(task, 'half of it', 'the other half')
end

test 'A job hears of a stop: cancelled' do
  job = ActsJob.perform_later('stop', 'works_until_stop')
  eventually('it runs, and has left its partition') { state(job.provider_job_id) == 'running' }
  allot('task', 'cancel', job.provider_job_id)
  ends(job.provider_job_id) # it succeeds before it is killed
  equal('cancelled', Seen.find_by(job: 'stop', what: 'stop').detail, 'the reason')
end

# A task with this payload, as any account that may submit can write it.
def submit(payload, type: 'shop.x')
  connection = OtherRecord.connection
  connection.execute("CALL allot.allot_submit('default', '#{type}', #{connection.quote(payload)}, NULL, @id, @existed)")
  connection.uncached { connection.select_value('SELECT @id') }
end

test 'its payload is not signed: it is dead at once, and nothing of it is decoded' do
  mark = "#{ENV.fetch('APP_WORK')}/unsigned"
  # This job of the framework calls any method of any class.
  job = OrderMailer.shipped('unsigned').deliver_later(wait: 1.day).serialize
  job['arguments'] = ['Kernel', 'system', 'deliver_now', { 'args' => ["touch #{mark}"], '_aj_ruby2_keywords' => ['args'] }]
  other = AllotRails::Signature.new(['another secret'])
  [JSON.generate(job), 'x', '', "\xff\x00", 'allot-hmac-sha256 ', "allot-hmac-sha256 #{'0' * 64}\n{}"].each do |payload|
    [payload, other.sign(payload)].each do |sent|
      task = submit(sent)
      dies(task)
      shows(task, 'not signed')
    end
  end
  equal(false, File.exist?(mark), 'the command ran')
  ends(submit(AllotRails.settings.signature.sign(JSON.generate(NoteJob.new('signed').serialize))))
  equal(['ran@1'], seen('signed'), 'what ran')
end

test 'its secret is the former one, which is still listed: it runs' do
  both = AllotRails::Signature.new(%w[new former])
  equal('{}', both.verified(AllotRails::Signature.new(['former']).sign('{}')), 'a payload of the former one')
  equal(nil, both.verified(AllotRails::Signature.new(['foreign']).sign('{}')), 'a foreign payload')
end

test 'its class is gone, or is not a job: a failed attempt with the reason' do
  { 'Gone::ForGoodJob' => 'unknown job class', 'Order' => 'is not a subclass of ActiveJob::Base',
    'Kernel' => 'is not a subclass', 'ActiveJob::Base' => 'is not a subclass', 'a b' => 'unknown job class' }.each do |name, why|
    task = submit(AllotRails.settings.signature.sign(JSON.generate(NoteJob.new('x').serialize.merge('job_class' => name))))
    dies(task)
    shows(task, why)
  end
end

test 'What is wrong with a signed payload is a failed attempt with the reason' do
  { '' => 'JSON', '[]' => 'not a job', '7' => 'not a job', 'null' => 'not a job', '"x"' => 'not a job', '{' => 'not JSON',
    '{}' => 'not a job', "\xff" => 'not signed', '{"job_class": ["NoteJob"]}' => 'unknown job class',
    '{"job_class": "NoteJob", "arguments": [{"_aj_globalid": "gid://shop/Nowhere/1"}]}' => 'DeserializationError',
    "#{'[' * 200}#{']' * 200}" => 'nesting' }.each do |json, why|
    task = submit(AllotRails.settings.signature.sign(json))
    dies(task)
    shows(task, why) unless json == "\xff"
  end
  after(nil, NoteJob.new('after bad ones'))
  equal(['ran@1'], seen('after bad ones'), 'what ran')
end

test 'A payload of nearly 16 MiB runs, and a larger one is refused' do
  after(nil, NoteJob.new('large', 'x' * ((16 << 20) - 1000)))
  equal(['ran@1'], seen('large'), 'what ran')
  begin
    NoteJob.perform_later('too large', 'x' * (16 << 20))
    raise 'it was taken'
  rescue ActiveRecord::StatementInvalid => e
    has(e.message, '16 MiB')
  end
end

test 'Children that keep the descriptors open disturb no other job' do
  after_acts(nil, 'child', 'leaves_a_child')
  after_acts(nil, 'forks', 'forks')
  equal(['ran@1'], seen('forks').grep(/ran/), 'what ran')
  after(nil, NoteJob.new('after the children'))
  equal(['ran@1'], seen('after the children'), 'what ran')
end

test 'A queue that Allot does not have is refused' do
  NoteJob.set(queue: 'nowhere').perform_later('nowhere')
  raise 'it was taken'
rescue ActiveRecord::StatementInvalid => e
  has(e.message, "queue 'nowhere'")
end

test 'Settings that are wrong are refused with the reason' do
  { { aplication: 'x' } => "unknown setting 'aplication'", { application: 'a b' } => "'application' must have",
    { database: 'a.b' } => "'database'", { priority_bounds: [3, 2, 1] } => "'priority_bounds'", { crashes: 0 } => "'crashes'" }.each do |given, why|
    AllotRails::Settings.new({ application: 'shop' }.merge(given))
    raise "#{given} was taken"
  rescue ArgumentError => e
    has(e.message, why)
  end
end

test 'allot-jobs outside of allotd says what to do' do
  program = File.expand_path('../exe/allot-jobs', __dir__)
  output, status = Open3.capture2e(ENV.fetch('APP_RUBY'), program, chdir: '/')
  equal(1, status.exitstatus, 'status')
  has(output, 'started by allotd')
end

test 'The gem is built' do
  Dir.mktmpdir do |folder|
    FileUtils.cp_r(File.expand_path('..', __dir__), "#{folder}/rails")
    script = 'require "rubygems/package"; Gem::Package.build(Gem::Specification.load("allot-rails.gemspec"))'
    output, status = Open3.capture2e(ENV.fetch('APP_RUBY'), '-e', script, chdir: "#{folder}/rails")
    raise output unless status.success?

    equal(1, Dir["#{folder}/rails/*.gem"].size, 'gems')
  end
end

# The last one: it replaces the daemon.
test 'A job that is continued later, because its worker leaves, is charged no attempt' do
  job = ActsJob.perform_later('continued', 'works_until_stop', 2)
  eventually('it runs') { seen('continued').any? }
  restart_daemon do
    ends(job.provider_job_id)
    equal(['ran@1', 'stop@1', 'ran@2'], seen('continued'), 'what ran')
    equal('worker_leaves', Seen.find_by(job: 'continued', what: 'stop').detail, 'the reason')
    has(log_of(job.provider_job_id), 'task.released', 'the log')
  end
end

run_cases

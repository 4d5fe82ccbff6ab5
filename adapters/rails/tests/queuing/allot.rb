# SPDX-License-Identifier: Apache-2.0
# The interface that Rails' own tests require of an adapter: support/integration/jobs_manager.rb calls it.
require 'allot-rails'
require 'fileutils'

module AllotJobsManager
  def setup
    AllotRails.settings = AllotRails::Settings.new(application: 'shop')
    ActiveJob::Base.queue_adapter = :allot
  end

  def clear_jobs
    FileUtils.rm_f(Dir[Rails.root.join('tmp/AJ-*')])
  end

  # The program works in the folder of the application that the tests have made.
  def start_workers
    config = File.read(ENV.fetch('ALLOT_CONFIG'))
    config.sub!(/^size = .*$/, 'size = 1')
    config.sub!(/^directory = .*$/, %(directory = "#{Rails.root}"))
    config.sub!(/^environment = \{/, 'environment = { ' + %w[AJ_ADAPTER DATABASE_URL RAILS_ENV RUBYOPT].map { |name| %(#{name} = "#{ENV.fetch(name)}", ) }.join)
    File.write(ENV.fetch('ALLOT_CONFIG'), config)
    system("#{ENV.fetch('APP_BUILD')}/bin/allot", 'reload', '--wait', exception: true)
    TestJob.perform_later('started') # the tests wait for a few seconds only
    Timeout.timeout(60) { sleep 0.1 until Rails.root.join('tmp/started').exist? }
  end

  def stop_workers; end
end

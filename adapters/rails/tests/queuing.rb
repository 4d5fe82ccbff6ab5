# SPDX-License-Identifier: Apache-2.0
# Rails' own tests of queue adapters (activejob/test/integration/queuing_test.rb), with Allot. They make an
# application of their own, whose folder is passed to allotd as the program's folder.
require_relative 'support'
require 'rails/version'

framework = File.dirname(ENV.fetch('APP_RUBY'))
unless File.exist?("#{framework}/rails/activejob/test/integration/queuing_test.rb")
  puts 'the mirror lacks the source of this Rails: its tests are not run'
  exit
end
root = Mysql2::Client.new(socket: ENV.fetch('APP_SOCKET'), username: 'root')
File.read("#{__dir__}/schema.sql").split(";\n").each { |statement| root.query(statement) }

tests = "#{ENV.fetch('APP_WORK')}/activejob"
FileUtils.cp_r("#{framework}/rails/activejob/test", tests)
FileUtils.cp("#{__dir__}/queuing/allot.rb", "#{tests}/support/integration/adapters/allot.rb")
# The helper ends with a file of the whole repository that is about its own CI.
helper = File.read("#{tests}/helper.rb")
File.write("#{tests}/helper.rb", helper.sub(/^require_relative "[.][.].*$/, ''))
# Debian's Rails 7.2 comes without an asset pipeline.
if Rails::VERSION::MAJOR >= 7
  maker = "#{tests}/support/integration/helper.rb"
  File.write(maker, File.read(maker).sub('"--skip-javascript"', '"--skip-javascript", "--skip-asset-pipeline"'))
end

# As the framework's own Rakefile does.
ENV['TMPDIR'] = ENV.fetch('APP_WORK') # the application is left there
ENV['AJ_ADAPTER'] = 'allot'
ENV['AJ_INTEGRATION_TESTS'] = '1'
ENV['DATABASE_URL'] = "mysql2://shop:secret@localhost/shop?socket=#{ENV.fetch('APP_SOCKET')}"
ENV['RUBYOPT'] = "-I#{__dir__}/queuing" # for the program that allotd keeps
$LOAD_PATH.unshift(tests, "#{__dir__}/queuing")
$stdout.sync = true
require 'logger'
require 'active_support'
require "#{tests}/integration/queuing_test"

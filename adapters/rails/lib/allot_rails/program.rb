# SPDX-License-Identifier: Apache-2.0
require 'allot_rails/pipe'
require 'allot_rails/restart_mark'

module AllotRails
  # `allot-jobs`: loads the application of the working directory, and runs jobs until allotd closes the
  # pipe or the application is restarted.
  module Program
    def self.run
      $stdout.sync = true
      pipe = Pipe.new
      mark = RestartMark.new(ENV.fetch('ALLOT_RESTART_FILE', 'tmp/restart.txt'))
      environment = File.expand_path('config/environment.rb')
      unless File.exist?(environment)
        abort "allot-jobs: no config/environment.rb in #{Dir.pwd}; set `directory` of the program to the application's folder"
      end
      require environment
      require 'allot_rails'
      require 'allot_rails/runner'
      Runner.new(pipe, mark).run
    end
  end
end
